// Names at the things they belong to. A label that would cover another is left out.

import * as THREE from "three";

const ORDER = ["axes", "gravity", "link", "joint", "loop", "line", "payload", "tip", "frame"];

export class Labels {
    constructor(layer) {
        this.layer = layer;
        this.shown = [];
    }

    /** kinds: which names of the view, and which marks of the stage, are shown. */
    set(view, marks, kinds) {
        this.layer.replaceChildren();
        this.view = view;
        this.shown = [...marks, ...view.names].filter((name) => kinds.has(name.kind)).sort((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind)).map((name) => {
            const element = document.createElement("span");
            element.className = `label ${name.kind}`;
            element.textContent = name.text;
            this.layer.append(element);
            return { name, element, width: 0 };
        });
        for (const label of this.shown) label.width = label.element.offsetWidth;
    }

    place(stage, isVisible) {
        const taken = [], point = new THREE.Vector3(), height = 18;
        for (const { name, element, width } of this.shown) {
            const at = stage.project(this.view.anchor(name, point));
            let spot = null;
            if (isVisible(name) && !at.hidden)
                spot = (name.link === undefined ? [[-width / 2, -height / 2]] : [[12, -20], [12, 4], [-12 - width, -20], [-12 - width, 4], [-width / 2, -34], [-width / 2, 18]])
                    .map(([dx, dy]) => ({ x: at.x + dx, y: at.y + dy }))
                    .find(({ x, y }) => x > 0 && y > 0 && x + width < stage.width && y + height < stage.height &&
                        taken.every((box) => x > box.x + box.width || x + width < box.x || y > box.y + height || y + height < box.y));
            element.style.visibility = spot ? "visible" : "hidden";
            if (!spot) continue;
            taken.push({ ...spot, width });
            element.style.transform = `translate(${spot.x.toFixed(1)}px, ${spot.y.toFixed(1)}px)`;
        }
    }
}
