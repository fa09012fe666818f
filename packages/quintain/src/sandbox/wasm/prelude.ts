/**
 * What the interpreter runs first. It takes away what leads from Python to JavaScript (code that gets there nevertheless
 * meets harden.ts), and puts Python's own event loop in the place of the browser's.
 */
export const prelude = `
def _prepare():
    import sys, time, socket, selectors, asyncio, importlib

    sys.meta_path[:] = [finder for finder in sys.meta_path if type(finder).__name__ != 'JsFinder']
    for name in [*sys.modules]:
        if name.split('.')[0] in ('js', 'pyodide_js', 'pyodide', '_pyodide', '_pyodide_core'):
            sys.modules[name] = None
    sys.modules['_ctypes'] = None

    def unreachable(*_, **__):
        raise OSError(101, 'Network is unreachable')
    for name in ('connect', 'connect_ex', 'bind', 'listen', 'sendto'):
        setattr(socket.socket, name, unreachable)
    socket.socketpair = socket.getaddrinfo = socket.gethostbyname = unreachable

    class NoSockets(selectors.SelectSelector):
        def select(self, timeout=None):
            if timeout is not None and timeout > 0:
                time.sleep(timeout)
            return []

    class Loop(asyncio.SelectorEventLoop):
        def __init__(self):
            super().__init__(NoSockets())
        def _make_self_pipe(self):
            pass
        def _close_self_pipe(self):
            pass
        def _write_to_self(self):
            pass

    class Policy(asyncio.events._BaseDefaultEventLoopPolicy):
        _loop_factory = Loop

    asyncio.events._set_running_loop(None)
    importlib.reload(asyncio.runners)
    asyncio.run, asyncio.Runner = asyncio.runners.run, asyncio.runners.Runner
    asyncio.events._set_event_loop_policy(Policy())
_prepare()
del _prepare
`
