/* ---- from rows of tables to the timeline and back; addresses that can be sent to a colleague ---- */

/* #e=12: event 12 of the first timeline; #t=1000,500: 500 ns from 1000 ns on; #find=NAME: the longest of this name. */
let timelines = [];

function setHash(view, words) {
    if (view !== timelines[0])
        return;
    try {
        history.replaceState(null, "", `#${words}`);
    } catch {
        /* a page that is shown within another may not */
    }
}

function followHash() {
    const view = timelines[0], words = location.hash.slice(1);
    if (!view || !/^(e|t|find)=/.test(words))
        return;
    const value = decodeURIComponent(words.slice(words.indexOf("=") + 1));
    if (words.startsWith("e=") && Number(value) < view.recording.spans.count)
        view.choose(Number(value), true);
    if (words.startsWith("t=")) {
        const [from, length] = value.split(",").map(Number);
        view.show(from - length * 0.1, length * 1.2);
        view.choseRange(from, from + length);
    }
    if (words.startsWith("find="))
        chooseNamed(view, value);
    view.root.scrollIntoView({ behavior: "instant" });
}

/* All of NAME are matches; the longest is chosen. */
function chooseNamed(view, name) {
    const { recording } = view, { spans } = recording;
    view.matches = [];
    view.takeMatches((i) => recording.nameOf(i) === name);
    view.root.querySelector("input[type=search]").value = name;
    view.told.textContent = `${view.matches.length} found`;
    const longest = view.matches.reduce((best, i) => best < 0 || spans.length[i] > spans.length[best] ? i : best, -1);
    if (longest >= 0)
        view.choose(longest, true);
    view.draw();
}

/* ---- tables ---- */

let rowsByKey = null;

/* Rows of the tables, and findings, by each name in them, of long names the whole, and by their place: "#t=1000,500". */
function findRows() {
    rowsByKey = new Map();
    const add = (key, row) => rowsByKey.set(key, [...(rowsByKey.get(key) || []), row]);
    for (const card of document.querySelectorAll(".findings li[data-place]"))
        for (const key of [card.dataset.place, ...[...card.querySelectorAll("a")].map((made) => made.getAttribute("href"))])
            add(key, card);
    for (const row of document.querySelectorAll(".table tbody tr[id]")) {
        for (const cell of row.cells)
            if (cell.classList.contains("name") || cell.classList.contains("text"))
                add(nameOfCell(cell), row);
        for (const place of row.querySelectorAll("a.place"))
            add(place.getAttribute("href"), row);
    }
}

function nameOfCell(cell) {
    return cell.dataset.name !== undefined ? cell.dataset.name : textOf(cell);
}

/* In PANEL, links to the rows that have one of KEYS, a name or a place. */
function addRows(panel, ...keys) {
    if (!rowsByKey)
        findRows();
    const rows = [...new Set(keys.flatMap((key) => rowsByKey.get(key) || []))].slice(0, 8);
    if (!rows.length)
        return;
    const titleOf = (row) => {
        const section = row.closest("section");
        const title = section && section.querySelector("h2, h3");
        return title ? title.textContent : row.id;
    };
    panel.append(element("h4", "In tables"),
                 element("ul", "", rows.map((row) => element("li", "", [link(titleOf(row), `#${row.id}`)]))));
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
    addLink(cell, hash, label);
}

/* Where a row's moment lies on the timeline: moments count from the origin of the row's file. */
function placeOfRow(view, row, columns) {
    const figure = (column) => column < 0 || row.cells[column].dataset.v === undefined ? NaN : Number(row.cells[column].dataset.v);
    const start = figure(columns.moment), length = figure(columns.length), rank = figure(columns.rank);
    const file = view.recording.files.find((of) => of.rank === rank) || view.recording.files[0];
    if (Number.isNaN(start) || !file)
        return null;
    return `#t=${Math.round(start + file.at)},${Number.isNaN(length) ? 1000 : Math.max(1, Math.round(length))}`;
}

/* The longest of NAMES that TEXT begins with; "" if there is none. */
function nameIn(names, text) {
    let found = "";
    for (const name of names)
        if (name.length > found.length && text.startsWith(name) && !/\w/.test(text.charAt(name.length)))
            found = name;
    return found;
}

/* Where idle time of the cause TITLE is most of what a device does: the longest run of bins; "" if it is nowhere. */
function stretchOf(recording, title) {
    const { bins } = recording.data, kind = recording.kinds.findIndex((of) => of.group === "idle" && of.title === title);
    let best = [0, 0];
    for (const strip of recording.strips.filter((of) => of.kinds.includes(kind))) {
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

/* The address in the timeline of what is called NAME: an event, idle time of a cause, a module, steps; "" if there is none. */
function addressOf(recording, names, name) {
    for (const called of [name, `nn.Module: ${name}`])
        if (called && names.has(called))
            return `#find=${encodeURIComponent(called)}`;
    if (name.startsWith("idle: "))
        return stretchOf(recording, name.slice(6));
    if (name.startsWith("ProfilerStep") && recording.steps.length) {
        const slowest = recording.steps.reduce((most, step) => step.length > most.length ? step : most);
        return placeOf(slowest.at, slowest.length);
    }
    return "";
}

/* A finding's place: the longest event of the name that it gives, or that its text begins with. */
function linkFindings(recording, names) {
    for (const card of document.querySelectorAll(".findings li")) {
        const where = card.querySelector(".where");
        card.dataset.place = card.dataset.place || (where ? nameIn(names, where.textContent) : "");
        const address = addressOf(recording, names, card.dataset.place);
        if (address)
            addLink(card.querySelector(".saves") || card.querySelector("h3"), address, "in the timeline");
    }
}

/* What the row of a finding is called in the timeline. */
function nameOfFinding(row, names) {
    const card = [...document.querySelectorAll(".findings li")].find((of) => of.querySelector("h3").firstChild.textContent === textOf(row.cells[0]));
    return card && card.dataset.place ? card.dataset.place : [...row.cells].map((cell) => nameIn(names, textOf(cell))).find(Boolean) || "";
}

/* The longest collective of ROW: the first communication that took as long as its column MAX says; "" if it is not here. */
function collectiveOf(recording, row, max) {
    const { spans, kinds } = recording, longest = max < 0 ? NaN : Number(row.cells[max].dataset.v);
    for (let i = 0; i < spans.count; i++)
        if (spans.length[i] === longest && kinds[spans.kind[i]].title === "communication")
            return placeOf(spans.start[i], longest);
    return "";
}

function linkTable(view, box, names) {
    const heads = [...box.querySelectorAll("th")];
    const column = (kind) => heads.findIndex((head) => head.dataset.kind === kind);
    const columns = { moment: column("moment"), length: column("ns"), rank: heads.findIndex((head) => head.dataset.key === "rank"),
                      step: heads.findIndex((head) => head.dataset.key === "step") };
    [...box.querySelectorAll("tbody tr")].forEach((row, number) => {
        const section = row.closest("section");
        row.id = row.id || `${section ? section.id : "row"}.${box.dataset.key}-${number + 1}`;
        const place = box.dataset.key === "collectives"
            ? collectiveOf(view.recording, row, heads.findIndex((head) => head.dataset.key === "max")) : placeOfRow(view, row, columns);
        const cell = [...row.cells].find((of) => of.classList.contains("name")) || row.cells[0];
        const name = box.dataset.key === "findings" ? nameOfFinding(row, names)
            : (box.dataset.key === "causes" ? "idle: " : "") + textOf(cell);
        const address = addressOf(view.recording, names, name);
        const step = columns.step < 0 ? -1 : view.recording.steps.findIndex((of) => of.number === Number(row.cells[columns.step].dataset.v));
        if (place)
            addPlace(cell, place, "its place in the timeline");
        else if (address)
            addPlace(cell, address, "in the timeline");
        else if (step >= 0)
            addPlace(row.cells[columns.step], `#t=${view.recording.steps[step].at},${view.recording.steps[step].length}`, "this step in the timeline");
    });
}

function linkTables(view) {
    if (!view || !view.recording.kinds.length)
        return;
    const names = new Set(view.recording.names);
    linkFindings(view.recording, names);
    for (const box of document.querySelectorAll(".table"))
        linkTable(view, box, names);
}
