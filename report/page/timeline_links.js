/* ---- from rows of tables to the timeline and back; addresses that can be sent to a colleague ---- */

/*
 * #e=12: event 12 of the first timeline; #t=1000,500: 500 ns from 1000 ns on; #m=1000: what was in use then; #find=NAME,3,0: the
 * longest of this name, where they are given only on rank 3 and its device 0. Of the second timeline: #2.e=12. Where there is
 * none, #call=NAME: the longest call of this name in the first call tree. What else is seen follows, each behind a semicolon:
 * v=1000,500: these 500 ns are in sight; p=4.7: lanes whose pin was changed; k=1000.2000: marks; r=3.9: these ranks are compared;
 * q=gemm: what is looked for. Behind an @ stands the row that it was a link of.
 */
let timelines = [];

/* ADDRESS, "#e=12", as one of VIEW. */
function addressIn(view, address) {
    const number = timelines.indexOf(view);
    return number > 0 ? address.replace("#", `#${number + 1}.`) : address;
}

/* What is seen besides what is chosen, as words of an address. */
function viewWords(view) {
    const { recording } = view, words = [];
    if (view.span < recording.length)
        words.push(`v=${Math.round(view.from)},${Math.round(view.span)}`);
    const pins = recording.lanes.filter((lane) => isPinned(lane) !== lane.pinnedAtFirst).map((lane) => lane.number);
    for (const [key, list] of [["p", pins], ["k", view.marks], ["r", view.compared]])
        if (list.length)
            words.push(`${key}=${list.join(".")}`);
    if (view.searched)
        words.push(`q=${encodeURIComponent(view.searched)}`);
    return words;
}

const OFTEN = 150; /* ms: browsers refuse addresses that change more often for long */

function writeHash(view) {
    const all = view.asFollowed ? [view.words] : [view.words, ...viewWords(view)].filter(Boolean);
    view.written = performance.now();
    try {
        history.replaceState(null, "", addressIn(view, `#${all.join(";")}`) + (view.wordsOrigin ? `@${view.wordsOrigin}` : ""));
    } catch {
        /* a page that is shown within another may not */
    }
}

/* WORDS are what is chosen. An address that is followed stays as it is. */
function setHash(view, words) {
    view.words = words;
    view.wordsOrigin = view.origin;
    view.asFollowed = view.following;
    if (!timelines.includes(view))
        return;
    clearTimeout(view.keeping);
    if (performance.now() - (view.written || 0) > OFTEN)
        writeHash(view);
    else
        view.keeping = setTimeout(() => writeHash(view), OFTEN);
}

/* Soon, as the view may be moving, the address has it. */
function keepView(view) {
    if (view.following || !timelines.includes(view))
        return;
    view.words = view.words || "";
    view.asFollowed = false;
    clearTimeout(view.keeping);
    view.keeping = setTimeout(() => writeHash(view), OFTEN);
}

function followHash() {
    follow(location.hash.slice(1));
}

function chooseIn(view, key, value, more) {
    const number = Number(value);
    if (key === "e")
        view.chooseNumber(number);
    if (key === "t" && Number.isFinite(number)) {
        const length = Number(more[0]) || 1;
        view.show(number - length * 0.1, length * 1.2);
        view.choseRange(number, number + length);
    }
    if (key === "m")
        openMoment(view, number);
    if (key === "find")
        chooseNamed(view, value, ...more);
}

/* What was seen besides, before what is chosen; the stretch in sight comes last. */
function restoreView(view, words) {
    const numbers = (key) => (words.get(key) || "").split(".").filter((part) => /^\d+$/.test(part));
    for (const lane of numbers("p").map((number) => view.recording.lanes[number]).filter(Boolean))
        lane.pinned = !lane.pinnedAtFirst;
    view.marks = numbers("k").map(Number);
    compareRanks(view, numbers("r"));
    if (words.has("q")) {
        view.root.querySelector("input[type=search]").value = decoded(words.get("q"));
        view.search(decoded(words.get("q")));
    }
    showPanel(view);
}

function follow(all) {
    const [address, row] = all.split("@");
    if (address.startsWith("call=") && flames.length)
        chooseCall(flames[0], decoded(address.slice(5)));
    const [, number, text] = address.match(/^(?:(\d+)\.)?((?:e|t|m|find|v|p|k|r|q)=.*)$/) || [];
    const view = timelines[(number || 1) - 1];
    if (!view || !text)
        return;
    const words = new Map(text.split(";").map((word) => [word.slice(0, word.indexOf("=")), word.slice(word.indexOf("=") + 1)]));
    unfold(view.root);
    view.origin = row || "";
    view.following = true;
    if (["p", "k", "r", "q"].some((key) => words.has(key)))
        restoreView(view, words);
    for (const key of ["e", "t", "m", "find"].filter((of) => words.has(of)))
        chooseIn(view, key, ...(([value, ...more]) => [value, more])(words.get(key).split(",").map(decoded)));
    const [from, span] = (words.get("v") || "").split(",").map(Number);
    if (span > 0 && Number.isFinite(from))
        view.show(from, span);
    view.origin = "";
    view.following = false;
    view.root.scrollIntoView({ behavior: "instant" });
}

/* All of NAME, on RANK and DEVICE unless they are "", are matches; the longest is chosen. */
function chooseNamed(view, name, rank = "", device = "") {
    const { recording } = view;
    view.matches = [];
    view.takeMatches((i) => recording.nameOf(i) === name && isAt(recording, i, rank, device));
    view.root.querySelector("input[type=search]").value = name;
    view.told.textContent = view.foundText();
    const found = [...view.matching.keys()].filter((i) => view.matching[i]), longest = longestOf(recording, found);
    if (longest >= 0)
        view.choose(longest, "zoom");
    view.draw();
}

function chooseCall(view, name) {
    const best = longestCall(view).get(name);
    if (best === undefined)
        return;
    unfold(view.root);
    const { at, length } = view.model.box(best), outside = at < view.from || at + length > view.from + view.length;
    if (outside || length / view.length * view.width < 3) /* as in the timeline: 20 times its length */
        view.show(at - 9.5 * length, 20 * length);
    view.choose(best);
    view.root.scrollIntoView({ behavior: "instant", block: "center" });
}

/* Of each name of a call tree, the longest box. */
function longestCall(view) {
    const { model } = view, found = new Map();
    for (let i = 0; i < model.count; i++) {
        const box = model.box(i);
        if (box && (!found.has(box.name) || box.length > model.box(found.get(box.name)).length))
            found.set(box.name, i);
    }
    return found;
}

/* ---- where events are ---- */

/* Is event I on RANK, and on DEVICE or a thread? "": it may be on any. */
function isAt(recording, i, rank, device) {
    return isLaneAt(recording.lanes[recording.spans.lane[i]], rank, device);
}

function isLaneAt(lane, rank, device) {
    return (!rank || !lane.group || lane.group === `rank ${rank}`) && (!device || lane.place !== 0 || lane.title.startsWith(`device ${device},`));
}

/* Of the events of LIST the longest, and on the critical path only if there is no other; -1 if there is none. */
function longestOf(recording, list) {
    const { length, lane } = recording.spans, isMark = (i) => recording.lanes[lane[i]].place === 1;
    return list.reduce((best, i) => best < 0 || isMark(i) < isMark(best) || (isMark(i) === isMark(best) && length[i] > length[best]) ? i : best, -1);
}

/* ",3,0" of an address: rank and device, where there are several. */
function siteText(recording, rank, device) {
    const parts = [recording.files.length > 1 ? rank : "", recording.strips.length > 1 ? device : ""];
    return parts.join("") === "" ? "" : `,${parts.join(",")}`.replace(/,$/, "");
}

/* The address that finds event I by its name. */
function addressOfSpan(recording, i) {
    const lane = recording.lanes[recording.spans.lane[i]];
    const [rank, device] = [lane.group.match(/^rank (\d+)/), lane.title.match(/^device (\d+),/)].map((found) => found ? found[1] : "");
    return `#find=${encodeURIComponent(recording.nameOf(i))}${siteText(recording, rank, device)}`;
}

/* ---- tables ---- */

let rowsByKey = null;

/* Rows of the tables, and findings, by each name in them, of long names the whole, and by their place: "#t=1000,500". */
function findRows() {
    rowsByKey = new Map();
    const add = (key, row) => {
        const rows = rowsByKey.get(key) || [];
        if (rows[rows.length - 1] !== row) /* several of its cells may have one text */
            rows.push(row);
        rowsByKey.set(key, rows);
    };
    for (const card of document.querySelectorAll(".findings li[data-place]"))
        for (const key of [card.dataset.place, ...[...card.querySelectorAll("a")].map((made) => made.getAttribute("href").split("@")[0])])
            add(key, card);
    for (const row of document.querySelectorAll(".table tbody tr[id], .twins tbody tr[id]")) {
        for (const cell of row.cells)
            if (cell.classList.contains("name") || cell.classList.contains("text"))
                add(nameOfCell(cell), row);
        for (const place of row.querySelectorAll("a.place"))
            add(place.getAttribute("href").split("@")[0], row);
    }
}

function nameOfCell(cell) {
    return cell.dataset.name !== undefined ? cell.dataset.name : textOf(cell);
}

/* Of several ROWS of a table, what tells ROW apart: "Rank: 3". */
function apartFrom(rows, row) {
    const heads = [...row.closest("table").tHead.rows[0].cells];
    const column = heads.findIndex((head, k) => !head.classList.contains("o") && rows.some((of) => nameOfCell(of.cells[k]) !== nameOfCell(row.cells[k])));
    return column < 0 ? `row ${row.id.match(/\d*$/)[0]}` : `${heads[column].textContent.trim()}: ${nameOfCell(row.cells[column])}`;
}

/*
 * In PANEL, links to rows of tables that have one of KEYS, names and places: of each table to those that have the first of them
 * that any has, or the first few; first to the row that led here.
 */
function addRows(view, panel, ...keys) {
    const MOST = 4, found = new Map();
    if (!rowsByKey)
        findRows();
    for (const key of keys) {
        const own = new Map();
        for (const row of rowsByKey.get(key.startsWith("#") ? addressIn(view, key) : key) || []) {
            const box = row.closest(".table") || row;
            own.set(box, [...(own.get(box) || []), row]);
        }
        for (const [box, rows] of own)
            found.set(box, found.get(box) || rows);
    }
    const led = view && view.origin ? document.getElementById(view.origin) : null, origin = led && led.matches("tr, li") ? led : null;
    const own = origin && (origin.closest(".table") || origin);
    const lists = [...found].filter(([box]) => box !== own).map(([, rows]) => rows);
    if (origin)
        lists.unshift([origin, ...(found.get(own) || []).filter((row) => row !== origin)]);
    if (!lists.length)
        return;
    const titleOf = (row) => {
        const table = row.closest(".table"), section = row.closest("section");
        const title = (table && table.querySelector("h3")) || (section && section.querySelector("h2, h3"));
        return title ? title.textContent : row.id;
    };
    const items = lists.slice(0, 12).flatMap((rows) => rows.slice(0, MOST).map((row) =>
        element("li", "", [link(rows.length > 1 ? `${titleOf(row)}, ${apartFrom(rows, row)}` : titleOf(row), `#${row.id}`)])));
    panel.append(element("h4", "In tables"), element("ul", "", items));
}

/* A link behind the text of AT, in front of its lines. */
function addLink(at, hash, label) {
    const made = link("\u2192", hash);
    made.className = "place";
    made.title = label;
    made.setAttribute("aria-label", label);
    at.insertBefore(made, at.querySelector(".line"));
}

function addPlace(cell, hash, label) {
    cell.dataset.name = textOf(cell);
    addLink(cell, `${hash}@${cell.closest("tr").id}`, label);
}

/* Where a row's moment lies on the timeline: moments count from the origin of the row's file; of a snapshot, from that of all. */
function placeOfRow(view, row, columns) {
    const start = figureOf(row, columns.moment), length = figureOf(row, columns.length), rank = figureOf(row, columns.rank);
    const file = view.recording.files.find((of) => of.rank === rank) || view.recording.files[0];
    if (Number.isNaN(start))
        return null;
    if (view.recording.data.alive)
        return `#m=${start}`;
    return file ? placeOf(Math.round(start + file.at), Number.isNaN(length) ? 1000 : Math.max(1, Math.round(length))) : null;
}

function figureOf(row, column) {
    return column < 0 || row.cells[column].dataset.v === undefined ? NaN : Number(row.cells[column].dataset.v);
}

/* The longest of NAMES that TEXT begins with; "" if there is none. */
function nameIn(names, text) {
    let found = "";
    for (const name of names)
        if (name.length > found.length && text.startsWith(name) && !/\w/.test(text.charAt(name.length)))
            found = name;
    return found;
}

/* Where idle time of the cause TITLE is most of what a device of the site does: the longest run of bins; "" if it is nowhere. */
function stretchOf(recording, title, rank, device) {
    const { bins } = recording.data, kind = recording.kinds.findIndex((of) => of.group === "idle" && of.title === title);
    const strips = new Set(recording.lanes.filter((lane) => lane.place === 0 && isLaneAt(lane, rank, device)).map((lane) => lane.strip));
    let best = [0, 0];
    for (const strip of recording.strips.filter((of, k) => strips.has(k) && of.kinds.includes(kind))) {
        const shares = strip.shares.slice(strip.kinds.indexOf(kind) * bins, (strip.kinds.indexOf(kind) + 1) * bins);
        const enough = Math.max(...shares) / 2;
        for (let bin = 0, first = 0; enough > 0 && bin < bins; bin++) {
            if (shares[bin] < enough)
                first = bin + 1;
            else if (bin + 1 - first > best[1])
                best = [first, bin + 1 - first];
        }
    }
    return best[1] ? placeOf(...best.map((bin) => Math.round(bin / bins * recording.length))) : "";
}

/*
 * Names of events, and which events have them; of a snapshot, the first of each line of code; the longest work of each lane; what
 * communicates; the process group in each of the details and its description. Each row is looked up in these, not among all events.
 */
/* NAME as pages show it: what cannot be seen, or acts on its surroundings, is written as text. */
function visibleName(name) {
    const short = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };
    return name.replace(/[\0-\x1f\x7f-\x9f]|[\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g, (letter) => short[letter] ||
        (letter < "\x80" ? `\\x${letter.charCodeAt(0).toString(16).padStart(2, "0")}` : `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`));
}

function indexNames(recording) {
    const { spans } = recording, names = new Map(), lines = new Map(), longest = recording.lanes.map(() => -1), communication = [];
    for (let i = 0; i < spans.count; i++) {
        if (recording.kinds.length && isKind(recording, i, "communication"))
            communication.push(i);
        const name = recording.nameOf(i), list = names.get(name);
        if (list)
            list.push(i);
        else
            names.set(name, [i]);
        if (recording.isWork(i) && !(spans.length[i] <= spans.length[longest[spans.lane[i]]]))
            longest[spans.lane[i]] = i;
    }
    for (const name of recording.data.alive ? names.keys() : []) { /* "28.12 MB train.py:12:main": its line of code */
        const line = name.replace(/^\S+ \S+ /, "");
        lines.set(line, lines.get(line) || name);
    }
    const shown = new Map([...names.keys()].map((name) => [visibleName(name), name]));
    const groups = recording.data.details.map((detail) => [/^Group: (.*)$/m, /^Description of the group: (.*)$/m].map((line) => (detail.match(line) || [])[1]));
    return { names, shown, lines, longest, communication, groups };
}

/* The address in the timeline of what is called NAME: an event, idle time of a cause, a module, steps; "" if there is none. */
function addressOf(recording, index, name, rank = "", device = "") {
    for (const called of [name, index.shown.get(name), `nn.Module: ${name}`, recording.data.alive ? index.lines.get(name) : ""])
        if ((index.names.get(called) || []).some((i) => isAt(recording, i, rank, device)))
            return `#find=${encodeURIComponent(called)}${siteText(recording, rank, device)}`;
    if (name.startsWith("idle: "))
        return stretchOf(recording, name.slice(6), rank, device);
    if (name.startsWith("ProfilerStep") && recording.steps.length) {
        const number = Number((name.match(/#(\d+)/) || [])[1]), own = recording.steps.filter((step) => step.number === number);
        const slowest = (own.length ? own : recording.steps).reduce((most, step) => step.length > most.length ? step : most);
        return placeOf(slowest.at, slowest.length);
    }
    return "";
}

/* The stretch that TEXT, of a pause in which nothing was recorded, begins with: "longest: 3.002ms on rank 13 at 304.921us, after ...", "2 in 4 steps, the longest begins at 304.921us, after ...; it takes 3.002ms"; "": none. */
function pauseIn(recording, text) {
    const units = { ns: 1, us: 1e3, ms: 1e6, s: 1e9 };
    const [, rank, at, of] = text.match(/(?:longest(?:: [\d.]+[num]?s| begins)?|^\d+ in \d+ steps?,)(?: on rank (\d+))? at ([\d.]+)([num]?s)\b/) || [];
    const [, length, unit] = text.match(/(?:longest:|; it takes) ([\d.]+)([num]?s)/) || [];
    const file = rank === undefined ? undefined : recording.files.find((own) => own.rank === Number(rank)); /* its moments count from its own beginning */
    return at && length ? placeOf(Math.round(at * units[of] + (file ? file.at : 0)), Math.round(length * units[unit])) : "";
}

/* A finding's place: the longest event of the name that it gives, or that its text begins with. */
function linkFindings(view, index) {
    const { recording } = view;
    for (const card of document.querySelectorAll(".findings li")) {
        const where = card.querySelector(".where"), whole = where ? where.parentElement.dataset.where || where.textContent : "", names = recording.data.alive ? index.lines : index.names;
        const [, rank, text] = whole.match(/^(?:mostly rank (\d+): )?(?:longest: )?(.*)$/s);
        card.dataset.place = card.dataset.place || nameIn(names.keys(), text);
        let address = addressOf(recording, index, card.dataset.place, rank);
        const called = nameIn(names.keys(), text);
        if (!address.startsWith("#find=") && called) { /* no gap is mostly due to it: its longest event */
            card.dataset.place = called;
            address = addressOf(recording, index, called, rank);
        }
        address = address || pauseIn(recording, whole);
        if (address)
            addLink(card.querySelector(".saves") || card.querySelector("h3"), `${addressIn(view, address)}@${card.id}`, "in the timeline");
    }
}

/* What the row of a finding is called in the timeline. */
function nameOfFinding(row, names) {
    const card = [...document.querySelectorAll(".findings li")].find((of) => (of.querySelector(".cause") || of.querySelector("h3")).textContent === textOf(row.cells[0]));
    return card && card.dataset.place ? card.dataset.place
        : [...row.cells].map((cell) => nameIn(names.keys(), textOf(cell).replace(/^longest: /, ""))).find(Boolean) || "";
}

/* The longest collective of ROW: the first communication that took as long as its column MAX says; "" if it is not here. */
function collectiveOf(recording, row, max) {
    const { spans, kinds } = recording, longest = max < 0 || !kinds.length ? NaN : Number(row.cells[max].dataset.v);
    const onHost = recording.names.map((name) => /^\w+:\w+$/.test(name)); /* "gloo:all_reduce" */
    for (let i = 0; i < spans.count; i++)
        if (spans.length[i] === longest && (isKind(recording, i, "communication") || onHost[spans.name[i]]))
            return placeOf(spans.start[i], longest);
    return "";
}

function namingCell(row) {
    return row.querySelector(".name:not(.o)") || row.cells[0];
}

/* What ROW may be called in the timeline, the most telling first: of a launch the kernel, of a chain its first, of copies all of their kind. */
function namesOfRow(box, row, cellOf, index) {
    const text = (key) => cellOf(key) ? textOf(cellOf(key)) : "";
    const own = textOf(namingCell(row));
    if (box.dataset.key === "findings")
        return [nameOfFinding(row, index.names)];
    if (cellOf("part") && cellOf("slowest"))
        return ["ProfilerStep"];
    if (box.dataset.key === "remarks")
        return [nameIn(index.names.keys(), own.replace(/^.*?: /, "")) || own.replace(/^.*?: /, "")];
    if (box.dataset.key === "causes")
        return [`idle: ${own}`];
    const copies = cellOf("direction") ? [...index.names.keys()].filter((name) => name.startsWith(`Memcpy ${text("direction")}`)) : [];
    const memory = copies.find((name) => name.toLowerCase().includes(text("memory")));
    return [text("kernel"), own, memory || copies[0] || "", text("names").split("|")[0].trim()].filter(Boolean);
}

/* The rank, device or stream in a cell; "": it is not one number. */
function siteOf(cell) {
    return cell && /^\d+$/.test(cell.dataset.v || cell.textContent) ? cell.dataset.v || cell.textContent : "";
}

/* The longest of what ran on the stream, the device or the rank that ROW is of; "" where it is of none. */
function laneOfRow(recording, index, cellOf) {
    const [rank, device, stream] = ["rank", "device", "stream"].map((key) => siteOf(cellOf(key) || (key === "rank" && cellOf("steps") && cellOf("ranks"))));
    const title = device && `device ${device},${stream && ` stream ${stream}`}`;
    const fits = (lane) => isLaneAt(lane, rank, device) && (!stream || lane.title === title);
    const longest = rank || device ? longestOf(recording, recording.lanes.filter(fits).map((lane) => index.longest[lane.number]).filter((i) => i >= 0)) : -1;
    return longest < 0 ? "" : `#e=${longest}`;
}

/* The step that ROW, the COUNTth of its number, is of; -1: none. */
function stepOfRow(recording, number, rank, count) {
    const fits = (step) => step.number === number && (Number.isNaN(rank) || recording.files[step.file].rank === rank);
    return recording.steps.findIndex((step) => fits(step) && (!Number.isNaN(rank) || --count < 0));
}

/* A row that has no moment, and is not called as anything in the timeline. */
function addOther(view, box, row, cellOf, index, own) {
    const { recording } = view, { key } = box.dataset;
    const moment = recording.data.alive ? momentOfRow(recording, key, row, cellOf, own) : "";
    const other = recording.data.alive ? "" : placeOfOther(recording, index, key, row, cellOf);
    const longest = moment || other || laneOfRow(recording, index, cellOf);
    if (longest)
        addPlace(namingCell(row), addressIn(view, longest), moment ? "what was in use then" : other ? "its place in the timeline" : "the longest of what ran there");
}

function linkTable(view, box, index) {
    const { recording } = view, heads = [...box.querySelectorAll("th")], counts = new Map();
    const own = recording.data.alive ? (view.root.querySelector("h3").textContent.match(/device (\d+)/) || [])[1] : undefined;
    const at = (key) => heads.findIndex((head) => head.dataset.key === key), kind = (of) => heads.findIndex((head) => head.dataset.kind === of);
    const lengths = ["duration", "length", "idle", "transfer"].map(at).filter((column) => column >= 0 && heads[column].dataset.kind === "ns");
    const columns = { moment: kind("moment"), length: lengths.length ? lengths[0] : kind("ns"), rank: at("rank"), step: at("step") };
    [...box.querySelectorAll("tbody tr")].forEach((row, number) => {
        const section = row.closest("section"), cellOf = (key) => at(key) < 0 ? null : row.cells[at(key)];
        row.id = row.id || `${section ? section.id : "row"}.${box.dataset.key}-${number + 1}`;
        const cell = namingCell(row);
        const site = [cellOf("rank"), cellOf("device")].map(siteOf);
        if (own !== undefined && site[1] !== own)
            return; /* it is of another device, which has a timeline of its own */
        const step = figureOf(row, columns.step);
        const place = box.dataset.key === "collectives" ? collectiveOf(recording, row, at("max")) : placeOfRow(view, row, columns);
        const address = place || namesOfRow(box, row, cellOf, index).map((name) => addressOf(recording, index, name, ...site)).find(Boolean) ||
            (box.dataset.key === "findings" ? pauseIn(recording, row.textContent) : "");
        counts.set(step, (counts.get(step) || 0) + 1);
        const found = stepOfRow(recording, step, figureOf(row, columns.rank), counts.get(step) - 1);
        if (address)
            addPlace(cell, addressIn(view, address), place ? "its place in the timeline" : "in the timeline");
        else if (found >= 0)
            addPlace(row.cells[columns.step], placeOf(recording.steps[found].at, recording.steps[found].length), "this step in the timeline");
        else
            addOther(view, box, row, cellOf, index, own);
    });
}

/* Rows of functions lead to the call tree where there is no timeline. */
function linkCalls(view) {
    const calls = longestCall(view);
    for (const cell of document.querySelectorAll(".table td.name:first-child"))
        if (calls.has(textOf(cell)))
            addPlace(cell, `#call=${encodeURIComponent(textOf(cell))}`, "in the call tree");
}

/* Of nightly runs, rows lead to the chart of their figure over the runs, and back: "step time, run by run". */
function linkHistory() {
    const charts = [...document.querySelectorAll("figure > figcaption")].filter((title) => title.textContent.endsWith(", run by run"));
    for (const row of charts.length ? document.querySelectorAll(".table tbody tr") : []) {
        const cell = namingCell(row), name = textOf(cell), place = charts.findIndex((title) => title.textContent === `${name}, run by run`);
        if (place < 0)
            continue;
        const [chart] = charts.splice(place, 1); /* charts come in the order of rows: an operator and a kernel may have one name */
        addLink(cell, `#${chart.parentElement.id}`, "over the runs");
        for (const card of document.querySelectorAll(".findings li")) {
            const heading = card.querySelector("h3"), section = card.querySelector(`a[href="#${row.closest("section").id}"]`);
            if (section && (heading.title || heading.textContent) === name) {
                section.hash = row.id;
                addLink(card.querySelector(".saves") || heading, `#${chart.parentElement.id}`, "over the runs");
            }
        }
        const back = link("its row", `#${row.id}`);
        back.className = "place";
        chart.append(back);
    }
}

/* Findings that name nothing lead where the row that they are of does, or the first of their section. */
function linkOtherFindings() {
    for (const card of document.querySelectorAll(".findings li")) {
        const [target] = [...card.querySelectorAll("a:not(.place)")].map((made) => document.getElementById(made.hash.slice(1)));
        const place = target && !card.querySelector("a.place") ? target.querySelector("tbody a.place, td a.place") : null;
        if (place)
            addLink(card.querySelector(".saves") || card.querySelector("h3"), `${place.getAttribute("href").split("@")[0]}@${card.id}`, place.title);
    }
}

/* A click in "Steps over time" shows that step: anywhere above or below its column, as some are short. Keys have its table. */
function linkColumns(view) {
    const chart = document.querySelector("svg.columns"), bars = chart ? [...chart.querySelectorAll("rect[data-at]")] : [];
    if (!bars.length)
        return;
    const [, rank] = chart.parentElement.querySelector("figcaption").textContent.match(/, rank (\d+)$/) || [];
    const { files } = view.recording, file = files.find((of) => of.rank === Number(rank)) || files[0];
    const own = view.recording.steps.filter((step) => files[step.file] === file);
    chart.style.cursor = "pointer";
    chart.addEventListener("click", (event) => {
        const box = chart.getBoundingClientRect(), at = Math.floor((event.clientX - box.left) / box.width * bars.length);
        const [start, length] = bars[Math.max(0, Math.min(at, bars.length - 1))].dataset.at.split(",").map(Number);
        const step = own.find((of) => of.at === Math.round(start + file.at)); /* which has a row */
        location.hash = step ? placeOf(step.at, step.length) : placeOf(Math.round(start + file.at), Math.max(1, length));
    });
}

function linkTables() {
    linkTheseTables();
    if (timelines.length && !timelines[0].recording.data.side && !timelines[0].recording.data.alive)
        linkColumns(timelines[0]);
    linkOtherFindings();
}

function linkTheseTables() {
    linkHistory();
    if (timelines.some((view) => view.recording.data.side)) {
        linkSides();
        return;
    }
    if (!timelines.length && flames.length)
        linkCalls(flames[0]);
    for (const view of timelines.filter((of, number) => number === 0 || of.recording.data.alive)) {
        const index = indexNames(view.recording);
        if (view === timelines[0])
            linkFindings(view, index);
        for (const box of document.querySelectorAll(".table"))
            linkTable(view, box, index);
    }
}
