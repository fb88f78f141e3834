/* ---- places of rows that are no events: of what they consist of the longest, or a moment ---- */

function isKind(recording, i, title) {
    const kind = recording.kinds[recording.spans.kind[i]];
    return kind.group === "device" && kind.title === title;
}

/* The longest event that FITS; "" if there is none. */
function longestThat(recording, fits) {
    const list = [];
    for (let i = 0; i < recording.spans.count; i++)
        if (fits(i))
            list.push(i);
    return list.length ? `#e=${longestOf(recording, list)}` : "";
}

/* The value of KEY in the details of event I; "" if it has none. */
function detailOf(recording, i, key) {
    const line = recording.data.details[recording.spans.detail[i]].split("\n").find((of) => of.startsWith(`${key}: `));
    return line ? line.slice(key.length + 2) : "";
}

/* The longest collective of the process group that TEXT begins with, or whose groups are for this. */
function collectiveOfGroup(recording, index, text) {
    const isOf = index.groups.map(([group, description]) => description === text || (group && nameIn([group], text) !== ""));
    const longest = longestOf(recording, index.communication.filter((i) => isOf[recording.spans.detail[i]]));
    return longest < 0 ? "" : `#e=${longest}`;
}

/* The NUMBERth collective of a sort on a rank and device; else the longest communication there. */
function collectiveNumbered(recording, index, sort, number, rank, device) {
    const plain = (text) => text.toLowerCase().replace(/[^a-z]/g, ""), { start } = recording.spans;
    const list = index.communication.filter((i) => isAt(recording, i, rank, device));
    const own = list.filter((i) => plain(detailOf(recording, i, "Collective") || recording.nameOf(i)).includes(plain(sort)))
        .sort((a, b) => start[a] - start[b]);
    const found = own[number - 1] === undefined ? longestOf(recording, list) : own[number - 1];
    return found < 0 ? "" : `#e=${found}`;
}

/* Before the first and after the last work of a device: the longest of these times. */
function edgeOf(recording) {
    const { spans, lanes } = recording, ends = new Map();
    let best = [0, 0];
    for (let i = 0; i < spans.count; i++) {
        if (!recording.isWork(i) || lanes[spans.lane[i]].place !== 0)
            continue;
        const { strip } = lanes[spans.lane[i]], end = ends.get(strip) || [Infinity, 0];
        ends.set(strip, [Math.min(end[0], spans.start[i]), Math.max(end[1], spans.start[i] + spans.length[i])]);
    }
    for (const [first, last] of ends.values())
        for (const [at, length] of [[0, first], [last, recording.length - last]])
            if (length > best[1])
                best = [at, length];
    return best[1] ? placeOf(...best) : "";
}

/* Of what devices did the longest that was launched outside of all modules. */
function workOutsideModules(recording) {
    const { spans } = recording, list = [], isModule = recording.names.map((name) => name.startsWith("nn.Module: "));
    for (let i = 0; i < spans.count; i++)
        if (recording.isWork(i))
            list.push(i);
    list.sort((a, b) => spans.length[b] - spans.length[a]);
    const found = list.find((i) => spans.call[i] < 0 || !recording.callersOf(spans.call[i]).some((k) => isModule[spans.name[k]]));
    return found === undefined ? longestThat(recording, (i) => recording.lanes[spans.lane[i]].place === 2 && spans.depth[i] === 0) : `#e=${found}`;
}

/* Where a figure over time, such as memory in use, is largest. */
function peakOfSeries(recording) {
    let best = [0, 0], most = 0;
    for (const { bins } of recording.lanes.filter((lane) => lane.bytes))
        bins.forEach((value, bin) => {
            if (value > most) {
                most = value;
                best = [bin, bins.length];
            }
        });
    return most ? placeOf(Math.round(best[0] / best[1] * recording.length), Math.ceil(recording.length / best[1])) : "";
}

/* NAME with "*" for each number; unless ALL, digits behind a letter are part of a word. As the rows of latencies and steps have it. */
function withStars(name, all) {
    return name.replace(/[a-zA-Z]?\d+/g, (run) => all || /^\d/.test(run) ? run.replace(/\d+/, "*") : run).replace(/^ProfilerStep#\*$/, "ProfilerStep*");
}

/* Is NAME of a step that serves requests in PHASE? Annotations count the tokens of both: "execute_context_1(888)_generation_0(0)". */
function isOfPhase(name, phase) {
    const found = name.match(/(?:context|prefill|extend)\D*(\d+)?.*?(?:generation|decode)_?(\d+)?/i);
    const phases = found ? (Number(found[1]) ? "prefill" : "") + (Number(found[2]) ? "decode" : "") : name.toLowerCase();
    return phase === "mixed" ? phases === "prefilldecode" : phases.includes(phase);
}

/* The longest event that OWN, "request *", stands for; of steps that serve requests, "execute_context_*(*) (mixed)", in its phase. */
function longestLike(recording, own) {
    const [, steps, phase] = own.match(/^(.*) \((prefill|decode|mixed|diffusion)\)$/s) || [];
    const fits = recording.names.map((name) => withStars(name, false) === own || (phase && withStars(name, true) === steps && isOfPhase(name, phase)));
    return fits.includes(true) ? longestThat(recording, (i) => fits[recording.spans.name[i]]) : "";
}

/* The longest step that serves requests in PHASE. */
function servingStep(recording, phase) {
    const fits = recording.names.map((name) => isOfPhase(name, phase));
    return longestThat(recording, (i) => recording.kinds[recording.spans.kind[i]].title === "annotations" && fits[recording.spans.name[i]]);
}

/* The longest of what ran on a rank of HOST. */
function workOfHost(recording, index, host) {
    for (const box of document.querySelectorAll(".table[data-key=ranks]")) {
        const heads = [...box.querySelectorAll("th")].map((head) => head.dataset.key), [rank, own] = ["rank", "host"].map((key) => heads.indexOf(key));
        const rows = own < 0 ? [] : [...box.querySelectorAll("tbody tr")].filter((row) => textOf(row.cells[own]) === host);
        const found = rows.map((row) => laneOfRow(recording, index, (key) => key === "rank" ? row.cells[rank] : null)).find(Boolean);
        if (found)
            return found;
    }
    return "";
}

/* The address of a row that neither has a moment nor is called as an event is; "" if there is none. */
function placeOfOther(recording, index, key, row, cellOf) {
    const text = (of) => cellOf(of) ? textOf(cellOf(of)) : "", own = textOf(namingCell(row));
    const places = {
        groups: () => collectiveOfGroup(recording, index, text("group")),
        links: () => collectiveOfGroup(recording, index, text("group")),
        lateness: () => collectiveNumbered(recording, index, text("collective"), Number(text("number")), siteOf(cellOf("last")), siteOf(cellOf("rank_device"))),
        hosts: () => workOfHost(recording, index, text("host")),
        steps: () => placeOf(0, recording.length),
        phases: () => servingStep(recording, text("phase")),
        batches: () => servingStep(recording, text("phase")),
        waste: () => own.startsWith("idle: ") ? edgeOf(recording)
            : longestThat(recording, (i) => isKind(recording, i, own.includes("copies") ? "copies" : own.includes("comput") ? "other kernels" : "communication")),
    };
    if (own === "(outside any module)")
        return workOutsideModules(recording);
    if (own === "[no operator]" || own === "[memory]" || cellOf("peak"))
        return peakOfSeries(recording);
    return places[key] ? places[key]() : own.includes("*") ? longestLike(recording, own) : "";
}

/* ---- of a snapshot: moments at which memory was in use ---- */

/* When most was in use from FROM to TO; of LINE alone, unless it is undefined. */
function peakBetween(recording, from, to, line) {
    let now = 0, most = -1, best = from;
    for (const use of recording.uses) {
        if (use.at > to)
            break;
        if (use.at > from && now > most)
            [most, best] = [now, Math.max(from, best)];
        if (line !== undefined && use.line !== line)
            continue;
        now += use.bytes;
        if (use.at >= from && now > most)
            [most, best] = [now, use.at];
    }
    return best;
}

/* The moment of ROW of device OWN; "" if there is none. Its times count from the first entry, or are those of the file. */
function momentOfRow(recording, key, row, cellOf, own) {
    const devices = document.querySelector(".table[data-key=devices]"), heads = devices ? [...devices.querySelectorAll("th")].map((head) => head.dataset.key) : [];
    const device = devices ? [...devices.querySelectorAll("tbody tr")].find((of) => of.cells[heads.indexOf("device")].dataset.v === own) : null;
    const figure = (of) => device && heads.includes(of) ? figureOf(device, heads.indexOf(of)) : NaN;
    const value = (of) => cellOf(of) && cellOf(of).dataset.v !== undefined ? Number(cellOf(of).dataset.v) : NaN;
    const peak = figure("peak_time"), since = (us) => (us - figure("peak_time_us")) * 1000 + peak;
    const line = recording.data.lines.indexOf(textOf(namingCell(row)));
    const moments = {
        ooms: () => since(value("time_us")),
        steps: () => peakBetween(recording, since(value("start_us")), since(value("end_us"))),
        segments: () => peak,
        fragmentation: () => recording.length - 1, /* when it was taken */
    };
    const at = moments[key] ? moments[key]() : line >= 0 ? peakBetween(recording, 0, recording.length, line) : NaN;
    return Number.isNaN(at) ? "" : `#m=${Math.max(0, Math.min(Math.round(at), recording.length - 1))}`;
}
