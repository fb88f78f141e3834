/* ---- two call trees side by side: rows that fold ---- */

/* The rows are a table, each with its depth; those right below a row are its children. */
class Twins {
    constructor(box) {
        this.rows = [...box.querySelectorAll("tbody tr")];
        this.depths = this.rows.map((row) => Number(row.dataset.depth));
        this.open = this.rows.map((row) => "open" in row.dataset);
        this.first = [...this.open];
        box.querySelector("table").setAttribute("role", "treegrid");
        this.rows.forEach((row, i) => {
            row.setAttribute("aria-level", String(this.depths[i] + 1));
            row.tabIndex = i ? -1 : 0;
            row.addEventListener("click", (event) => event.target.closest("a") || this.toggle(i));
        });
        box.querySelector("tbody").addEventListener("keydown", (event) => this.press(event));
        const ways = { largest: (i) => this.first[i], all: () => true, none: () => false };
        for (const button of box.querySelectorAll("[data-do]"))
            button.addEventListener("click", () => {
                this.open = this.rows.map((row, i) => ways[button.dataset.do](i));
                this.show();
            });
        this.show();
    }

    hasChildren(i) {
        return this.depths[i + 1] > this.depths[i];
    }

    parent(i) {
        let at = i - 1;
        while (at >= 0 && this.depths[at] >= this.depths[i])
            at--;
        return at;
    }

    show() {
        let closed = Infinity; /* the depth of the closed row that the next ones lie in */
        this.rows.forEach((row, i) => {
            if (this.depths[i] <= closed)
                closed = Infinity;
            row.hidden = this.depths[i] > closed;
            if (!this.hasChildren(i))
                return;
            row.setAttribute("aria-expanded", String(this.open[i]));
            if (!this.open[i] && !row.hidden)
                closed = this.depths[i];
        });
        const reached = this.rows.findIndex((row) => row.tabIndex === 0);
        if (reached >= 0 && this.rows[reached].hidden)
            this.reach(0, false);
    }

    /* The one row that the tab key leads to. */
    reach(i, focus) {
        for (const row of this.rows)
            row.tabIndex = -1;
        this.rows[i].tabIndex = 0;
        if (focus)
            this.rows[i].focus();
    }

    toggle(i) {
        if (!this.hasChildren(i))
            return;
        this.open[i] = !this.open[i];
        this.show();
        this.reach(i, true);
    }

    /* The next row in direction SIGN that is not folded away; I itself at the end. */
    beside(i, sign) {
        let at = i + sign;
        while (at >= 0 && at < this.rows.length && this.rows[at].hidden)
            at += sign;
        return at < 0 || at >= this.rows.length ? i : at;
    }

    press(event) {
        const i = this.rows.indexOf(event.target.closest("tr"));
        const inner = this.hasChildren(i);
        const keys = {
            ArrowDown: () => this.reach(this.beside(i, 1), true),
            ArrowUp: () => this.reach(this.beside(i, -1), true),
            ArrowRight: () => inner && this.open[i] ? this.reach(i + 1, true) : this.toggle(i),
            ArrowLeft: () => inner && this.open[i] ? this.toggle(i) : this.parent(i) >= 0 && this.reach(this.parent(i), true),
            Home: () => this.reach(0, true),
            End: () => this.reach(this.beside(this.rows.length, -1), true),
            Enter: () => this.toggle(i),
            " ": () => this.toggle(i),
        };
        if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key])
            return;
        event.preventDefault();
        keys[event.key]();
    }
}

for (const box of document.querySelectorAll(".twins"))
    if (box.querySelector("tbody tr"))
        new Twins(box);
