/* ---- the panel below a timeline: what is chosen, or the sums of a stretch of time ---- */

function element(tag, text, children = []) {
    const made = document.createElement(tag);
    if (text)
        made.textContent = text;
    made.append(...children);
    return made;
}

function listOf(pairs) {
    return element("dl", "", pairs.flatMap(([key, value]) => [element("dt", key), element("dd", value)]));
}

function link(text, hash) {
    const made = element("a", text);
    made.href = hash;
    return made;
}

/* A line that chooses event I. */
function lineOf(view, i, text) {
    const button = element("button", text);
    button.type = "button";
    button.addEventListener("click", () => view.choose(i, "zoom"));
    return element("li", "", [button]);
}

function placeOf(start, length) {
    return `#t=${start},${length}`;
}

function stepAt(view, at) {
    return view.recording.steps.findIndex((step) => at >= step.at && at < step.at + step.length);
}

function spanFigures(view, i) {
    const { recording } = view, { spans } = recording, lane = recording.lanes[spans.lane[i]];
    const pairs = [["Time", timeText(spans.length[i])], ["From", timeText(spans.start[i])],
                   ["On", lane.group ? `${lane.group}, ${lane.title}` : lane.title]];
    if (recording.kinds.length)
        pairs.push(["Kind", recording.kinds[spans.kind[i]].title]);
    const step = recording.stepOf(i);
    if (step >= 0)
        pairs.push(["Step", String(recording.steps[step].number)]);
    for (const line of recording.data.details[spans.detail[i]].split("\n").filter(Boolean)) {
        const [, key, value] = line.match(/^(.*?): (.*)$/s) || ["", "", line];
        if (key !== "Bytes") {
            pairs.push([key, key === "Call stack" ? value.split(";").filter(Boolean).join("\n") : value]);
            continue;
        }
        pairs.push([key, bytesText(Number(value))]);
        if (spans.length[i] > 0 && recording.isWork(i))
            pairs.push(["Bandwidth", `${(Number(value) / spans.length[i]).toFixed(2)} GB/s`]);
    }
    if (spans.correlation[i])
        pairs.push(["Correlation", String(spans.correlation[i])]);
    return pairs;
}

/* Events of the same name: how many are here, and how long. */
function sumsOfName(view, i) {
    const { spans } = view.recording;
    let count = 0, total = 0, longest = 0;
    for (let k = 0; k < spans.count; k++)
        if (spans.name[k] === spans.name[i] && spans.kind[k] === spans.kind[i]) {
            count++;
            total += spans.length[k];
            longest = Math.max(longest, spans.length[k]);
        }
    return `${count.toLocaleString("en")} on this page, ${timeText(total)} in all, ${timeText(total / count)} on average, the longest ${timeText(longest)}`;
}

/* By name, most time first: [name, time, count, the longest]. */
function groupByName(recording, list) {
    const groups = new Map();
    for (const i of list) {
        const of = groups.get(recording.spans.name[i]) || { time: 0, count: 0, example: i };
        of.time += recording.spans.length[i];
        of.count++;
        if (recording.spans.length[i] > recording.spans.length[of.example])
            of.example = i;
        groups.set(recording.spans.name[i], of);
    }
    return [...groups.values()].sort((a, b) => b.time - a.time);
}

function addGroups(view, panel, title, groups) {
    if (!groups.length)
        return;
    panel.append(element("h4", title));
    panel.append(element("ol", "", groups.slice(0, 8).map((of) =>
        lineOf(view, of.example, `${timeText(of.time)}, ${of.count} \u00d7 ${view.recording.shortOf(of.example)}`))));
}

function showSpan(view, panel, i) {
    const { recording } = view, { spans } = recording;
    const short = recording.shortOf(i), whole = short === recording.nameOf(i) ? [] : [element("details", "", [element("summary", "whole name"), element("p", recording.nameOf(i))])];
    panel.append(element("h4", short), ...whole, listOf(spanFigures(view, i)));
    if (!recording.data.alive)
        panel.append(element("p", view.sumsOfName(i)));
    const call = spans.call[i];
    if (call >= 0) {
        const wait = spans.start[i] - spans.start[call] - spans.length[call];
        panel.append(element("h4", recording.isWork(i) ? "Launched by" : "The event itself"), element("ul", "", [
            lineOf(view, call, recording.shortOf(call)),
            ...(recording.isWork(i) ? [element("li", wait >= 0 ? `waited ${timeText(wait)} after the call` : "began within the call")] : [])]));
    }
    const callers = recording.callersOf(call >= 0 ? call : i).reverse();
    if (callers.length)
        panel.append(element("h4", "Called from, the innermost first"), element("ul", "", callers.map((k) => lineOf(view, k, recording.nameOf(k)))));
    if (recording.lanes[spans.lane[i]].place === 2 && recording.kinds.length)
        addGroups(view, panel, "GPU work it launched", groupByName(recording, recording.workOf(i)));
    const name = recording.nameOf(i);
    addRows(view, panel, `#e=${i}`, placeOf(spans.start[i], spans.length[i]), addressOfSpan(recording, i), `#find=${encodeURIComponent(name)}`, name);
}

const LINES_LISTED = 100;

function blocksText(count) {
    return `${count.toLocaleString("en")} block${count === 1 ? "" : "s"}`;
}

/* A heading and the first items; how many there are besides. */
function addListed(panel, title, items) {
    panel.append(element("h4", title), element("ol", "", items.slice(0, LINES_LISTED)));
    if (items.length > LINES_LISTED)
        panel.append(element("p", `and ${(items.length - LINES_LISTED).toLocaleString("en")} more`));
}

/* What was in use at a moment: all of it by line of code, and the blocks that are drawn, the largest first. */
function showAlive(view, panel, moment) {
    const { recording } = view, { spans } = recording, { every } = recording.data;
    const at = Math.floor(moment / every) * every;
    const drawn = [], lines = recording.inUse(at);
    for (let i = 0; i < spans.count; i++)
        if (spans.start[i] <= at && (at < spans.start[i] + spans.length[i] || spans.start[i] + spans.length[i] >= recording.length))
            drawn.push(i);
    drawn.sort((a, b) => recording.bytesOf(b) - recording.bytesOf(a));
    const sum = (key) => lines.reduce((total, line) => total + line[key], 0);
    panel.append(element("h4", `In use at ${timeText(at)}`),
                 element("p", `${bytesText(sum("bytes"))} in ${blocksText(sum("blocks"))}, of which ${drawn.length.toLocaleString("en")} ${drawn.length === 1 ? "is" : "are"} drawn.`));
    if (!lines.length)
        return;
    addListed(panel, "By line of code", lines.map((line) => element("li", `${bytesText(line.bytes)} in ${blocksText(line.blocks)}: ${line.name}`)));
    if (drawn.length)
        addListed(panel, "Drawn", drawn.map((i) => lineOf(view, i, recording.nameOf(i))));
    addRows(view, panel, `#m=${moment}`);
}

/* It is there only when it has something to say. */
function showPanel(view) {
    const { panel, range, chosen } = view, inner = element("div");
    const atMoment = view.moment !== undefined && view.recording.data.alive;
    if (chosen >= 0)
        showSpan(view, inner, chosen);
    if (atMoment)
        showAlive(view, inner, view.moment);
    if (chosen < 0 && !atMoment && range)
        view.showRange(inner, range);
    showMarks(view, inner);
    panel.replaceChildren(inner);
    panel.hidden = !inner.hasChildNodes();
    view.root.classList.toggle("has-panel", !panel.hidden);
}
