"""Runs a command and turns the way it ends into sentences and an exit code."""
import errno
import sys

from trainers import settings as settings_module
from trainers.console import Console
from trainers.errors import PREFLIGHT_FAILED, Refused


def run(command, environ=None):
    """Reads the settings and runs command(settings, console).

    Args:
        command: function that returns an exit code.
        environ: mapping; None means os.environ.

    Returns:
        exit code; see the table in the README.
    """
    console = Console()
    debug = False
    try:
        settings = settings_module.read(environ)
        debug = settings.log_level.value == "debug"
        return command(settings, console)
    except Refused as refused:
        console.log_traceback()
        if debug:
            import traceback
            console.error(traceback.format_exc().rstrip())
        console.error("%s\n%s" % (refused.what, refused.do))
        return refused.code
    except Exception as error:
        import traceback
        console.log_traceback()
        if disk_is_full(error):
            console.error("The disk is full%s.\nFree some space and run the same command again: what was saved before "
                          "is kept." % (" (%s)" % error.filename if getattr(error, "filename", None) else ""))
            return PREFLIGHT_FAILED
        console.error(traceback.format_exc().rstrip() if debug else _one_line(error))
        where = "the traceback is in %s" % console.log_path if console.log_path else "LOG_LEVEL=debug shows more"
        console.error("This is not an error we foresaw; %s." % where)
        return 1
    finally:
        sys.stdout.flush()


def disk_is_full(error):
    """True for the system's own error and for TensorFlow's, which has it in its words."""
    return getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT) or "No space left on device" in str(error)


def _one_line(error):
    text = " ".join(str(error).split()) or "no message"
    return "%s: %s" % (type(error).__name__, text if len(text) <= 300 else text[:297] + "...")
