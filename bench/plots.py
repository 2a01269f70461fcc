"""Pictures of results: ratios of the query suite, growth with one property, decision times per group. Needs matplotlib."""
import json
import os

INK, GRID = "#24292f", "#d8dee4"
COLOUR = {"auto": "#1a7f37", "isl": "#0969da", "z3": "#bc4c00"}
TARGET_LINES = ((0.1, "median target"), (5.0, "99 % target"))


def prepare(plt):
    plt.rcParams.update({"font.family": "sans-serif", "font.size": 10, "axes.edgecolor": GRID, "axes.labelcolor": INK, "text.color": INK,
                         "xtick.color": INK, "ytick.color": INK, "axes.grid": True, "grid.color": GRID, "grid.linewidth": 0.6,
                         "axes.spines.top": False, "axes.spines.right": False, "axes.axisbelow": True, "svg.hashsalt": "polyrace", "svg.fonttype": "none",
                         "figure.facecolor": "white"})


def save(fig, o, name):
    path = os.path.join(o.folder, f"{name}.{o.format}")
    fig.savefig(path, bbox_inches="tight", dpi=150, metadata={"Date": None} if o.format == "svg" else None)
    print(path)


def suite(plt, result, o):
    """One line a query: auto as a dot, isl and Z3 to its right by how many times longer they take."""
    for version, title in (("safe", "Race-free queries"), ("race", "Racing queries")):
        rows = [r for r in result["suite"] if r["version"] == version]
        fig, ax = plt.subplots(figsize=(8, 0.3 * len(rows) + 1.2))
        for y, r in enumerate(reversed(rows)):
            auto = r["auto"]["us"]
            for name, x in (("isl", r["tiers"]["isl"]), ("z3", r.get("z3"))):
                if x and x["answer"] != "unknown" and x["us"]:
                    ax.plot([auto, x["us"]], [y, y], color=COLOUR[name], lw=1, alpha=0.35, zorder=1)
                    ax.scatter([x["us"]], [y], color=COLOUR[name], s=26, zorder=2)
                    if name == "z3":
                        right = max(x["us"], r["tiers"]["isl"]["us"] if r["tiers"]["isl"]["answer"] != "unknown" else 0)
                        ax.annotate(f"{x['us'] / auto:.0f}×", (right, y), textcoords="offset points", xytext=(7, -3.5), fontsize=8, color=COLOUR["z3"])
            ax.scatter([auto], [y], color=COLOUR["auto"], s=34, zorder=3)
            silent = [t for t, x in (("isl", r["tiers"]["isl"]), ("Z3", r.get("z3"))) if x and x["answer"] == "unknown"]
            if silent:
                last = auto if "isl" in silent else r["tiers"]["isl"]["us"]
                if "Z3" not in silent:
                    last = r["z3"]["us"] * 3
                ax.annotate(" and ".join(silent) + ": no answer", (last, y), textcoords="offset points", xytext=(9, -3.5), fontsize=8, color="#656d76")
        ax.set_yticks(range(len(rows)), [f"{r['name'][2:]}, {r['form']}" for r in reversed(rows)])
        ax.set_xscale("log")
        ax.set_xlabel("processor time of one query, µs")
        ax.grid(axis="y", visible=False)
        ax.set_title(title, loc="left", fontweight="bold")
        handles = [plt.Line2D([], [], marker="o", ls="", color=COLOUR[n], label=t) for n, t in
                   (("auto", "polyrace"), ("isl", "isl alone, prepared rows"), ("z3", "Z3, its best configuration"))]
        ax.legend(handles=handles, loc="lower right", frameon=False, fontsize=8)
        save(fig, o, f"suite-{version}")
        plt.close(fig)


def scale(plt, result, o):
    """Small multiples: decision time against one property each, the same axis of time."""
    names = list(dict.fromkeys(p["property"] for p in result["points"]))
    columns = 4
    lines = -(-len(names) // columns)
    fig, axes = plt.subplots(lines, columns, figsize=(11, 2.6 * lines), sharey=True, squeeze=False)
    for ax in axes.flat[len(names):]:
        ax.axis("off")
    for ax, name in zip(axes.flat, names):
        points = [p for p in result["points"] if p["property"] == name]
        for engine in ("z3", "isl", "auto"):
            xy = [(p["value"], p["decide_us"] / 1e3 * (1 if engine == "auto" else p[engine + "_over_auto"] or 0)) for p in points]
            xy = [(x, y) for x, y in xy if y]
            if xy:
                ax.plot(*zip(*xy), color=COLOUR[engine], marker="o", ms=3, lw=1.4, label={"auto": "polyrace", "isl": "isl alone", "z3": "Z3 alone"}[engine])
        ax.set_title(name, loc="left", fontsize=10)
        ax.set_yscale("log")
        if points[-1]["value"] >= 100:
            ax.set_xscale("log")
    for ax in axes[:, 0]:
        ax.set_ylabel("decision, ms")
    handles, labels = axes.flat[0].get_legend_handles_labels()
    fig.legend(handles[::-1], labels[::-1], loc="lower right", frameon=False, bbox_to_anchor=(0.98, 0.08))
    fig.tight_layout()
    save(fig, o, "scale")
    plt.close(fig)


def shared(plt, result, o):
    """Time of a process and isl operations against one property each."""
    names = list(dict.fromkeys(p["property"] for p in result["shm"]))
    fig, axes = plt.subplots(1, len(names), figsize=(3.6 * len(names), 2.8), sharey=True, squeeze=False)
    for ax, name in zip(axes.flat, names):
        points = [p for p in result["shm"] if p["property"] == name]
        ax.plot([p["value"] for p in points], [p["ratio"] for p in points], color=COLOUR["auto"], marker="o", ms=3, lw=1.4, label="time of a process")
        first = max(points[0]["isl_ops"], 1)
        ax.plot([p["value"] for p in points], [p["isl_ops"] / first for p in points], color=COLOUR["isl"], marker="o", ms=3, lw=1.4, label="isl operations")
        ax.set_title(name, loc="left", fontsize=10)
    axes[0][0].set_ylabel("over the first point")
    axes[0][0].legend(frameon=False, fontsize=8)
    fig.tight_layout()
    save(fig, o, "shm")
    plt.close(fig)


def decisions(plt, groups, o, name):
    """Share of launches decided within a time, one curve a group."""
    fig, ax = plt.subplots(figsize=(7.5, 3.6))
    for (label, times), colour in zip(groups.items(), ("#1a7f37", "#0969da", "#8250df", "#bc4c00")):
        times = sorted(max(t, 1e-3) for t in times)
        if times:
            ax.step(times, [100 * (i + 1) / len(times) for i in range(len(times))], where="post", color=colour, label=f"{label} ({len(times)})")
    for x, text in TARGET_LINES:
        ax.axvline(x, color=INK, lw=0.8, ls=":")
        ax.annotate(text, (x, 101), textcoords="offset points", xytext=(0, 3), fontsize=8, ha="center")
    ax.set_xscale("log")
    ax.set_ylim(0, 101)
    ax.set_xlabel("decision, ms")
    ax.set_ylabel("launches decided within, %")
    ax.legend(frameon=False, loc="lower right", fontsize=9)
    save(fig, o, name)
    plt.close(fig)


def main(o):
    try:
        import matplotlib
    except ImportError:
        print("run.py plot needs matplotlib: python3 -m pip install matplotlib")
        return 2
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    prepare(plt)
    os.makedirs(o.folder, exist_ok=True)
    for path in o.files:
        with open(path, encoding="utf-8") as f:
            result = json.load(f)
        if "suite" in result:
            suite(plt, result, o)
        elif "shm" in result:
            shared(plt, result, o)
        elif "points" in result:
            scale(plt, result, o)
        elif "groups" in result:
            ms = result["decision_ms"]
            decisions(plt, {"shipped kernels": [v for k, v in ms.items() if "." not in k], "package texts": [v for k, v in ms.items() if "." in k]}, o, "packages")
        elif "decision_ms" in result:
            decisions(plt, {"shipped kernels": list(result["decision_ms"].values())}, o, "corpus")
        else:
            print(f"{path}: nothing to draw")
    return 0
