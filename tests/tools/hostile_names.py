"""Names that try to get out of where they are shown, and traces in which everything has such a name.

    hostile_names.NAMES             text; a byte that is no UTF-8 is a surrogate escape (as in os.fsdecode)
    hostile_names.harmless(NAMES)   as many, of the same lengths, of letters only; with the byte 0xff where a name has it
    hostile_names.whole(NAMES)      those without that byte, for which a file is taken to be damaged
    hostile_names.shown(name)       what a terminal, CSV, HTML ... shows of it
    hostile_names.kept(name)        what JSON keeps of it
    hostile_names.trace(names)      Chrome JSON, as bytes
"""

import json
import marshal

SURROGATES = range(0xD800, 0xE000)
NAMES = [
    # pages
    "<script>document.title='taken'</script>", "\"><img src=x onerror=\"document.title='taken'\">", "]]></script><script>alert(1)</script>",
    "<!-- --><svg onload=\"alert(1)\">", "<![CDATA[", "]]>", "</style><style>*{display:none}", "javascript:alert(1)", "&lt;b&gt; &amp;amp; '\"`",
    "{{constructor}} ${alert(1)}", "</table><table>", "' onmouseover='alert(1)",
    # terminals: controls of both sets, escapes, what turns or hides text
    "\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "\x1b]8;;http://x\x1b\\link", "\x1bP1$q\x1b\\", "\x9b31m", "\x9d0;t\x9c", "\x07\x08\x7f", "a\rb", "a\nb", "a\tb",
    "\x00nul", "\u202egnp.exe", "\u2066left\u2069", "zero\u200bwidth", "\ufefforder", "line\u2028end\u2029", "tag\U000e0041", "\u0301accent", "\u115f",
    # no UTF-8, and what Unicode does not have
    "\udcff\udcfe", "\udcc0\udcaf", "\udce6\udcbc", "cut\udcf0\udc9f", "\udc9b31m", "lone\ud800", "\ud83d",
    # spreadsheets
    "=cmd|'/C calc'!A0", "+1+1", "-1+1", "@SUM(A1)", "\t=1+1", "\r=1+1", "\n=1+1", " =1+1", "\uff1d1+1", "=HYPERLINK(\"http://x\",\"y\")", "a,b", "a;b", "a\"b", "\"",
    # Markdown
    "a|b", "a\\|b", "`code`", "```", "[link](http://x)", "![image](http://x)", "**bold**", "_under_", "~~gone~~", "# heading", "<details>", "| --- |",
    # GitHub's log
    "::error::taken", "\n::error::taken", "%0A::error::taken", "::set-output name=x::y", "##[error]taken", "a%0Db",
    # gnuplot
    "EOD", "$data", "$text << EOD", "@macro", "`touch taken`", "\"; system 'touch taken'", "'.system(\"touch taken\").'", "a\\", "{/Symbol a}", "%s%n%d",
    # SQL, shells, paths
    "'; DROP TABLE runs; --", "' OR 1=1 --", "\" OR \"\"=\"", "$(touch taken)", "; touch taken", "../../taken", "/etc/passwd", "~/x", "C:\\x", "--output=taken",
    "-o", "-", "%h%p%r%%",
    # folded stacks, DOT, speedscope
    "a;b;c 12", "name 100", "\\N\\G\\l", "n0 -> n1", "\"];n9[label=\"", "__proto__",
    # sizes
    "", " ", "a" * 5000, "\u6f22" * 700,
]


LOST = "\udcff"  # 0xff, which no text has: tpa says that a part of the file was lost


def harmless(names):
    """Letters instead, as many and as different. Where a byte shows that the file is damaged, that stays."""
    return ["" if not name else ("n%03d" % i).ljust(min(len(name), 5000), "x") + LOST * (LOST in name) for i, name in enumerate(names)]


def whole(names):
    return [name for name in names if LOST not in name]


def is_hidden(c):
    """Controls, what has no width, what turns text. Written down from the Unicode tables, for the names above."""
    return c < " " or "\x7f" <= c <= "\x9f" or c in "\u202e\u2066\u2069\u200b\ufeff\u2028\u2029\U000e0041\u115f"


def shown(name):
    """As C would write it; what is read from JSON has no NUL and no lone surrogate, but U+FFFD instead."""
    out = ""
    rest = undecoded(name)
    for c in rest:
        if c in "\n\t\r":
            out += {"\n": "\\n", "\t": "\\t", "\r": "\\r"}[c]
        elif ord(c) in SURROGATES:
            out += "\\x%02x" % (ord(c) - 0xDC00)
        elif is_hidden(c):
            out += "\\x%02x" % ord(c) if c < "\x80" else "\\u%04x" % ord(c) if c <= "\uffff" else "\\U%08x" % ord(c)
        else:
            out += c
    return out


def is_byte(c):
    return 0xDC80 <= ord(c) <= 0xDCFF


def undecoded(name):
    return "".join("\ufffd" if c == "\0" or (ord(c) in SURROGATES and not is_byte(c)) else c for c in name)


def kept(name):
    return undecoded(name).encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def quoted(name):
    """A JSON string: bytes as they are, all else as escapes where it needs them."""
    parts = []
    for c in name:
        parts.append(c if is_byte(c) else json.dumps(c)[1:-1])
    return '"' + "".join(parts) + '"'


def trace(names, steps=5, factor=1.0):
    """
    Operators, kernels, copies, annotations, modules, threads, devices, groups: wherever a name can stand there is each of NAMES.
    FACTOR makes the operators take longer.
    """
    lines = []

    def add(name, **fields):
        args = fields.pop("args", {})
        texts = ", ".join(f'"{k}": {json.dumps(v) if not isinstance(v, str) else quoted(v)}' for k, v in fields.items())
        inner = ", ".join(f'"{k}": {json.dumps(v) if not isinstance(v, str) else quoted(v)}' for k, v in args.items())
        lines.append(f'{{"name": {quoted(name)}, {texts}, "args": {{{inner}}}}}')

    at = 1000.0
    number = 0
    for step in range(steps):
        begin = at
        for i, name in enumerate(names):
            number += 1
            ids = {"External id": number, "correlation": number}
            length = round((60 + i) * factor + (step * 7 + i) % 5 * 0.01, 3)
            add("nn.Module: " + name, ph="X", cat="python_function", pid=9, tid=9, ts=at, dur=length + 20, args={"Python id": number})
            add(name, ph="X", cat="user_annotation", pid=9, tid=9, ts=at + 1, dur=length + 18, args={"External id": number + 100000})
            add(name, ph="X", cat="cpu_op", pid=9, tid=9, ts=at + 2, dur=length, args={**ids, "Call stack": name, "Input Dims": [[i]]})
            add("cudaLaunchKernel", ph="X", cat="cuda_runtime", pid=9, tid=9, ts=at + 3, dur=5, args=ids)
            add(name, ph="X", cat="kernel", pid=0, tid=7, ts=at + 20, dur=30 + i / 100, args={**ids, "device": 0, "stream": 7})
            add("[memory]", ph="i", s="t", cat="cpu_instant_event", pid=9, tid=9, ts=at + 4,
                args={"Bytes": 512, "Addr": number, "Device Type": 1, "Device Id": 0, "Total Allocated": 512 * number, "Total Reserved": 1 << 20})
            if step == 0:
                add("ncclDevKernel_AllReduce", ph="X", cat="kernel", pid=0, tid=20, ts=at + 20, dur=10,
                    args={"device": 0, "stream": 20, "correlation": number + 200000, "Collective name": name, "Process Group Name": name, "dtype": "Float"})
                add("aten::add", ph="X", cat="cpu_op", pid=10 + i, tid=10 + i, ts=at, dur=3, args={})
                add("thread_name", ph="M", pid=10 + i, tid=10 + i, args={"name": name})
                add("process_name", ph="M", pid=10 + i, args={"name": name})
            at += length + 40
        add(f"ProfilerStep#{step}", ph="X", cat="user_annotation", pid=9, tid=9, ts=begin - 5, dur=round(at - begin, 3), args={})
        at += 10
    head = f'"schemaVersion": 1, "host_name": {quoted(names[0])}, "deviceProperties": [{{"id": 0, "name": {quoted(names[1])}, "numSms": 100}}]'
    return ("{%s, \"traceEvents\": [\n%s]}\n" % (head, ",\n".join(lines))).encode("utf-8", "surrogateescape")


def profile(names):
    """A dump of cProfile: NAMES as functions in files of these names, each called by the one before."""
    texts = [kept(name).replace("\ufffd", "?") for name in names]
    functions = [(text, i, text) for i, text in enumerate(texts)]
    stats = {}
    for i, function in enumerate(functions):
        callers = {functions[i - 1]: (1, 1, 0.001 * (i + 1), 0.01)} if i else {}
        stats[function] = (1, 1, 0.001 * (i + 1), 0.01 * (len(names) - i), callers)
    return marshal.dumps(stats, 2)
