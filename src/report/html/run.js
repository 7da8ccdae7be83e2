(() => {
  const commands = JSON.parse(document.getElementById('data').textContent);
  const box = document.querySelector('.picture');
  const view = viewer(box);
  const find = (id) => document.getElementById(id);
  const all = (selector, from = document) => Array.from(from.querySelectorAll(selector));
  const chooser = find('command');
  const search = find('search');
  const status = find('status');
  const projections = find('projections');
  const element = (name, attributes, ...children) => {
    const made = document.createElementNS('http://www.w3.org/2000/svg', name);
    Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, value));
    made.append(...children);
    return made;
  };
  let at = 0;
  let instance = 0;
  // The signatures that are projected over, and the atom that is looked at of each.
  let chosen = new Map();

  const command = () => commands[at];
  const shown = () => command().instances[instance];
  const atoms = (name) => (shown().sigs.find((set) => set.name === name) || { atoms: [] }).atoms;
  const short = (name) => name.split('.').pop();

  // What the instance says once what is projected over is left out: atoms, what is said about each, and lines between them.
  const projected = () => {
    const { sigs, fields, skolems } = shown();
    const gone = new Map();
    chosen.forEach((atom, name) => atoms(name).forEach((other) => gone.set(other, atom)));
    const nodes = new Map();
    const node = (name) => {
      if (!nodes.has(name)) nodes.set(name, { name, sorts: [], notes: [], theme: {} });
      return nodes.get(name);
    };
    sigs.forEach((set) => {
      const theme = (command().sigs[set.name] || {}).theme || {};
      set.atoms.filter((atom) => !gone.has(atom)).forEach((atom) => {
        const one = node(atom);
        one.sorts.push(set.name);
        Object.assign(one.theme, theme);
        if ((command().sigs[set.name] || {}).subset) one.notes.push(short(set.name));
      });
    });
    const lines = [];
    [...fields, ...skolems].forEach((table) => {
      const theme = command().fields[table.name] || {};
      if (theme.hide) return;
      const label = theme.label || short(table.name);
      table.tuples.forEach((tuple) => {
        if (tuple.some((atom) => gone.has(atom) && gone.get(atom) !== atom)) return;
        const rest = tuple.filter((atom) => !gone.has(atom));
        if (rest.length === 0) return;
        if (rest.length === 1) { node(rest[0]).notes.push(label); return; }
        const first = rest[0];
        const last = rest[rest.length - 1];
        const middle = rest.slice(1, -1);
        const named = middle.length > 0 ? `${label} [${middle.join(', ')}]` : label;
        if (theme.attribute) { node(first).notes.push(`${named}: ${last}`); return; }
        node(first);
        node(last);
        lines.push({ from: first, to: last, label: named, colour: theme.colour, field: table.name });
      });
    });
    nodes.forEach((one, name) => { if (one.theme.hide) nodes.delete(name); });
    return { nodes: Array.from(nodes.values()), lines: lines.filter((line) => nodes.has(line.from) && nodes.has(line.to)) };
  };

  const draw = () => {
    const { nodes, lines } = projected();
    const index = new Map(nodes.map((node, position) => [node.name, position]));
    nodes.forEach((node) => {
      const title = node.theme.label ? `${node.theme.label} ${node.name.split('$')[1] || ''}`.trim() : node.name;
      node.lines = [title, ...Array.from(new Set(node.notes))];
      node.w = Math.max(60, ...node.lines.map((line) => line.length * 7.2 + 24)) * (node.theme.shape === 'diamond' ? 1.5 : 1);
      node.h = (20 + node.lines.length * 14) * (node.theme.shape === 'diamond' ? 1.6 : 1);
    });
    const made = layered(nodes, lines.map((line) => [index.get(line.from), index.get(line.to)]));
    const svg = element('svg', { viewBox: `0 0 ${Math.max(made.width, 300)} ${Math.max(made.height, 160)}`, role: 'img', 'aria-label': `graph of ${find('title').textContent}`, 'font-family': 'monospace', 'font-size': '12' });
    const tip = element('marker', { id: 'tip', viewBox: '0 0 8 8', refX: '8', refY: '4', markerWidth: '9', markerHeight: '9', markerUnits: 'userSpaceOnUse', orient: 'auto' });
    tip.append(element('path', { d: 'M0 0L8 4L0 8z', fill: 'context-stroke' }));
    const definitions = element('defs', {});
    definitions.append(tip);
    svg.append(definitions);
    lines.forEach((line, position) => {
      const points = made.routes[position];
      let path = `M${points[0].join(' ')}`;
      if (line.from === line.to) path += `C${points[1].join(' ')} ${points[2].join(' ')} ${points[3].join(' ')}`;
      else for (let step = 1; step < points.length; step += 1) {
        const [[x, y], [nx, ny]] = [points[step - 1], points[step]];
        if (Math.abs(y - ny) < 0.5) { if (x !== nx) path += `H${nx}`; }
        else path += `C${(x + nx) / 2} ${y} ${(x + nx) / 2} ${ny} ${nx} ${ny}`;
      }
      const drawn = element('path', { class: `line field ${line.colour || ''}`, d: path, fill: 'none', 'marker-end': 'url(#tip)', 'data-from': line.from, 'data-to': line.to });
      const [a, b] = line.from === line.to ? [points[1], points[2]] : [points[1], points[2] || points[1]];
      const text = element('text', { class: 'label', x: (a[0] + b[0]) / 2, y: (a[1] + b[1]) / 2 - 3, 'text-anchor': 'middle', 'data-from': line.from, 'data-to': line.to });
      text.textContent = line.label;
      svg.append(drawn, text);
    });
    nodes.forEach((node, position) => {
      const [x, y] = made.corners[position];
      const { w, h } = node;
      const group = element('g', { class: `box ${node.theme.colour || ''}`, 'data-item': node.name, 'data-name': node.name, 'data-sort': node.sorts.join(' ') });
      const title = element('title', {});
      title.textContent = `${node.name}: ${node.sorts.join(', ')}`;
      const shapes = {
        ellipse: () => element('ellipse', { cx: x + w / 2, cy: y + h / 2, rx: w / 2, ry: h / 2 }),
        diamond: () => element('polygon', { points: `${x},${y + h / 2} ${x + w / 2},${y} ${x + w},${y + h / 2} ${x + w / 2},${y + h}` }),
        hexagon: () => element('polygon', { points: `${x},${y + h / 2} ${x + 12},${y} ${x + w - 12},${y} ${x + w},${y + h / 2} ${x + w - 12},${y + h} ${x + 12},${y + h}` }),
      };
      const shape = (shapes[node.theme.shape] || (() => element('rect', { x, y, width: w, height: h, rx: 6 })))();
      group.append(title, shape);
      node.lines.forEach((line, row) => {
        const text = element('text', { x: x + w / 2, y: y + h / 2 + (row - (node.lines.length - 1) / 2) * 14 + 4, 'text-anchor': 'middle' });
        if (row === 0) text.setAttribute('font-weight', 'bold');
        text.textContent = line;
        group.append(text);
      });
      svg.append(group);
    });
    box.replaceChildren(svg);
    view.attach();
    filter();
  };

  const filter = () => {
    const word = search.value.trim().toLowerCase();
    const dim = new Set();
    all('[data-item]', box).forEach((item) => {
      const meant = !word || item.textContent.toLowerCase().includes(word);
      item.classList.toggle('dim', !meant);
      if (!meant) dim.add(item.dataset.item);
    });
    all('[data-from]', box).forEach((line) => line.classList.toggle('dim', dim.has(line.dataset.from) && dim.has(line.dataset.to)));
    all('#tables tbody tr').forEach((row) => { row.hidden = Boolean(word) && !row.textContent.toLowerCase().includes(word); });
  };

  // One line for each signature that can be projected over: whether it is, and over which atom.
  const offer = () => {
    const names = Object.keys(command().sigs).filter((name) => command().sigs[name].top && atoms(name).length > 0);
    chosen = new Map(Array.from(chosen).filter(([name]) => names.includes(name)).map(([name, atom]) => [name, atoms(name).includes(atom) ? atom : atoms(name)[0]]));
    projections.replaceChildren('Project over', ...names.map((name) => {
      const row = document.createElement('span');
      const label = document.createElement('label');
      const check = document.createElement('input');
      check.type = 'checkbox';
      check.checked = chosen.has(name);
      check.dataset.project = name;
      check.addEventListener('change', () => {
        if (check.checked) chosen.set(name, atoms(name)[0]);
        else chosen.delete(name);
        offer();
        draw();
        all('input', projections).find((other) => other.dataset.project === name)?.focus();
      });
      label.append(check, ` ${name}`);
      row.append(label);
      if (chosen.has(name)) {
        const atom = document.createElement('select');
        atom.setAttribute('aria-label', `atom of ${name}`);
        atom.append(...atoms(name).map((one) => new Option(one, one)));
        atom.value = chosen.get(name);
        atom.addEventListener('change', () => { chosen.set(name, atom.value); draw(); });
        row.append(' ', atom);
      }
      return row;
    }));
  };

  const show = () => {
    const count = command().instances.length;
    find('title').textContent = command().title;
    find('verdict').textContent = command().verdict;
    all('#tables [data-command]').forEach((tables) => { tables.hidden = tables.dataset.command !== String(at) || tables.dataset.instance !== String(instance); });
    find('previous').disabled = instance === 0;
    find('next').disabled = instance + 1 >= count;
    const last = instance + 1 === count && command().exhausted ? '; there are no more' : '';
    status.textContent = count > 0 ? `instance ${instance + 1} of ${count}${last}` : 'no instance to show';
    if (count > 0) { offer(); draw(); } else { projections.replaceChildren(); box.replaceChildren(); }
  };
  const choose = (index) => {
    at = index;
    instance = 0;
    chosen = new Map(Object.entries(command().sigs).filter(([, sig]) => sig.top && sig.theme && sig.theme.project).map(([name]) => [name, '']));
    chooser.value = String(index);
    show();
  };
  const step = (by) => {
    const to = instance + by;
    if (to < 0 || to >= command().instances.length) return;
    instance = to;
    show();
  };
  find('previous').addEventListener('click', () => step(-1));
  find('next').addEventListener('click', () => step(1));
  document.addEventListener('keydown', (event) => {
    if (event.target instanceof Element && event.target.matches('input, select')) return;
    if (event.key === 'n') step(1);
    else if (event.key === 'p') step(-1);
  });
  chooser.addEventListener('change', () => choose(Number(chooser.value)));
  search.addEventListener('input', filter);
  if (commands.length > 0) choose(Math.max(0, commands.findIndex((one) => one.instances.length > 0)));
})();
