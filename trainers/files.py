"""Files that are whole or not there: written under a temporary name, fsynced, renamed."""
import json
import os
import tempfile


def write_atomically(path, content):
    """Writes content (bytes or text) so that `path` is either the old or the new file, whatever kills us."""
    data = content if isinstance(content, bytes) else content.encode("utf-8")
    folder = os.path.dirname(os.path.abspath(path))
    handle, temporary = tempfile.mkstemp(prefix=".%s." % os.path.basename(path), dir=folder)
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def write_json(path, value):
    write_atomically(path, json.dumps(value, indent=2, sort_keys=True) + "\n")


def read_json(path):
    """The value in a JSON file, or None where there is no such file."""
    try:
        with open(path) as source:
            return json.load(source)
    except FileNotFoundError:
        return None


def _umask():
    # mkstemp makes files private; the only way to learn the umask is to set it.
    mask = os.umask(0)
    os.umask(mask)
    return mask
