/**
 * What an interpreter runs that serves one call: it imports, reads the source and its data, calls `grade`, writes one line
 * with what came of it, and ends at once, whatever the source has left running.
 *
 * Its output is the channel of that line. What the source prints goes to standard error, which is kept apart. The line begins
 * with a number that comes with the call, so that output which only looks like it is not it; the process is not dumpable, so
 * that programs which the source starts reach neither its memory nor its channel. The source itself, and what it executes in
 * its own interpreter, are not kept from either: Python has no walls within a process.
 *
 * Everything that is needed after the source has run is taken before, since a source can replace any name it can reach.
 */
export const runner = String.raw`
def _serve():
    import ast, sys, os, json, binascii, importlib, importlib.metadata, importlib.util
    import linecache, math, traceback, types
    asked = json.loads(sys.argv[1])
    write, leave, b64, dump = os.write, os._exit, binascii.b2a_base64, json.dumps
    channel = os.dup(1)
    os.dup2(2, 1)
    sys.argv = ['grader.py']
    try:
        import ctypes
        ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)
    except Exception:
        pass
    try:
        import resource
        # Memory that was asked for and not touched counts too, so that a source meets a MemoryError and not its deadline.
        resource.setrlimit(resource.RLIMIT_DATA, (asked['memory'], asked['memory']))
    except Exception:
        pass
    places = [place for place in os.environ.pop('QUINTAIN_SITE', '').split(':') if place]
    if places:
        # As in the virtual environment: no package of the system's beside its own.
        sys.path[:] = [place for place in sys.path if not place.endswith(('site-packages', 'dist-packages'))] + places

    def known(name):
        try:
            return importlib.util.find_spec(name) is not None
        except Exception:
            return False

    missing = frozenset(name for name in asked['image'] if not known(name))
    for name in asked['modules']:
        if name.split('.')[0] not in missing:
            try:
                importlib.import_module(name)
            except BaseException:
                pass
    versions = {}
    for name in asked['packages']:
        try:
            versions[name] = importlib.metadata.version(asked['image'][name])
        except Exception:
            pass
    python = '.'.join(str(part) for part in sys.version_info[:3])

    def exactly(n):
        parts = []
        while n > 0:
            part = sys.stdin.buffer.read(min(n, 1 << 20))
            if not part:
                leave(3)
            parts.append(part)
            n -= len(part)
        return b''.join(parts)

    head = json.loads(sys.stdin.buffer.readline())
    source = exactly(head['source']).decode('utf-8', 'surrogatepass')
    data = exactly(head['data'])
    nonce = head['nonce'].encode()
    null = os.open('/dev/null', os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)

    modules, OK, BAD, GONE = sys.modules, b' ok ', b' error ', b' missing '
    _int, _float, _str, _bytes, _len, _type, _isinstance, _BaseException = int, float, str, bytes, len, type, isinstance, BaseException
    _hasattr, _repr, _isfinite, _flush = hasattr, repr, math.isfinite, sys.stdout.flush
    _bytearray = bytearray
    tb_text = traceback.format_exception

    def say(kind, text, more):
        try:
            _flush()
        except _BaseException:
            pass
        fields = nonce + kind + b64(text.encode('utf-8', 'surrogatepass'), newline=False) + b' ' + b64(more.encode('utf-8', 'surrogatepass'), newline=False)
        line = b'\n' + fields + b'\n'
        while line:
            line = line[write(channel, line):]
        leave(0)

    def used():
        try:
            return dump({'python': python, 'packages': {name: versions[name] for name in versions if name in modules}})
        except _BaseException:
            return '{"python": "' + python + '", "packages": {}}'

    def failed(thrown):
        # The innermost of an endless recursion says enough, and the frames of this file nothing.
        try:
            frames = thrown.__traceback__
            while frames is not None and frames.tb_frame.f_code.co_filename != 'grader.py':
                frames = frames.tb_next
            text = ''.join(tb_text(_type(thrown), thrown, frames, limit=-20))
        except _BaseException:
            try:
                text = _type(thrown).__name__
            except _BaseException:
                text = 'an exception that cannot be shown'
        say(BAD, text[-4000:], used())

    try:
        if 'special' in head:
            key = head['special']
            values = {'NaN': _float('nan'), 'Infinity': _float('inf'), '-Infinity': -_float('inf'), '-0': -0.0}
            revive = lambda d: (values[d[key]] if d[key] in values else _int(d[key])) if key in d else d
            sample, item = json.loads(data, object_hook=revive)
        else:
            sample, item = json.loads(data)
    except RecursionError:
        say(BAD, 'the sample or the item is nested too deeply for Python to read', used())
    del data, head

    # Read off the source and never off an exception: whatever a source executes could raise one of that name.
    try:
        wanted = set()
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Import):
                wanted.update(alias.name.split('.')[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                wanted.add(node.module.split('.')[0])
        lacking = sorted(missing & wanted)
    except BaseException:
        # It does not parse, and is told so below.
        lacking = []
    if lacking:
        say(GONE, ' '.join(lacking), used())

    try:
        module = types.ModuleType('grader')
        module.__file__ = 'grader.py'
        modules['grader'] = module
        linecache.cache['grader.py'] = (_len(source), None, source.splitlines(True), 'grader.py')
        exec(compile(source, 'grader.py', 'exec'), module.__dict__)
        grade = module.__dict__.get('grade')
        if not callable(grade):
            say(BAD, 'the source defines no function grade(sample, item)', used())
        value = grade(sample, item)
        kind = _type(value).__name__
        if _isinstance(value, (_str, _bytes, _bytearray)) or not (_hasattr(value, '__float__') or _hasattr(value, '__index__')):
            say(BAD, 'grade returned ' + kind + ', and a number is needed', used())
        number = _float(value)
        if not _isfinite(number):
            say(BAD, 'grade returned ' + _float.__repr__(number) + ', and a finite number is needed', used())
        say(OK, _float.__repr__(number), used())
    except _BaseException as thrown:
        failed(thrown)

_serve()
`
