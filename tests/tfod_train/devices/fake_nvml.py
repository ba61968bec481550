"""GPUs made up at NVML's boundary, the module pynvml."""

import types


class Error(Exception):
    def __init__(self, value):
        super(Error, self).__init__({3: "Not Supported", 9: "Driver Not Loaded", 15: "GPU is lost"}[value])
        self.value = value


class Nvml(types.ModuleType):
    """pynvml for GPUs of which each is [uuid, percent, bytes in use]; an Error in place of an answer is raised."""

    NVMLError = Error
    NVML_ERROR_NOT_SUPPORTED = 3

    def __init__(self, *listed, **how):
        super(Nvml, self).__init__("pynvml")
        self.listed = [list(gpu) for gpu in listed]
        self.init_error = how.get("init_error")
        self.open = 0
        self.asked = 0

    def nvmlInit(self):
        if self.init_error:
            raise Error(self.init_error)
        self.open += 1

    def nvmlShutdown(self):
        self.open -= 1

    def nvmlDeviceGetCount(self):
        return len(self.listed)

    def nvmlDeviceGetHandleByIndex(self, index):
        return index

    def nvmlDeviceGetUUID(self, handle):
        return self.listed[handle][0].encode()

    def nvmlDeviceGetName(self, handle):
        return "Tesla V100"

    def nvmlDeviceGetCudaComputeCapability(self, handle):
        return 7, 0

    def nvmlSystemGetDriverVersion(self):
        return b"470.57"

    def _answer(self, handle, column):
        self.asked += 1
        answer = self.listed[handle][column]
        if isinstance(answer, Error):
            raise answer
        return answer

    def nvmlDeviceGetUtilizationRates(self, handle):
        return types.SimpleNamespace(gpu=self._answer(handle, 1), memory=99)

    def nvmlDeviceGetMemoryInfo(self, handle):
        return types.SimpleNamespace(total=10**12, free=5, used=self._answer(handle, 2))
