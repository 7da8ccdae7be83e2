// A layered drawing: columns from left to right, lines that bend between columns only. Nodes have a width and a height, lines are
// pairs of nodes. Gives each node its left upper corner, and each line the points it goes through.
const layered = (nodes, lines) => {
  const GAP = 110;
  const ROW = 22;
  const next = nodes.map(() => []);
  lines.forEach(([from, to]) => { if (from !== to) next[from].push(to); });
  // Lines that would close a circle count the other way round.
  const seen = nodes.map(() => 0);
  const back = new Set();
  const finished = [];
  nodes.forEach((_, start) => {
    if (seen[start]) return;
    const stack = [[start, 0]];
    seen[start] = 1;
    while (stack.length > 0) {
      const top = stack[stack.length - 1];
      const [at, index] = top;
      if (index < next[at].length) {
        top[1] += 1;
        const to = next[at][index];
        if (seen[to] === 1) back.add(`${at} ${to}`);
        else if (!seen[to]) { seen[to] = 1; stack.push([to, 0]); }
      } else { seen[at] = 2; finished.push(at); stack.pop(); }
    }
  });
  const turned = lines.map(([from, to]) => back.has(`${from} ${to}`));
  const directed = lines.map(([from, to], index) => (turned[index] ? [to, from] : [from, to]));
  const after = nodes.map(() => []);
  directed.forEach(([from, to]) => { if (from !== to) after[from].push(to); });
  const layer = nodes.map(() => 0);
  finished.reverse().forEach((at) => after[at].forEach((to) => { layer[to] = Math.max(layer[to], layer[at] + 1); }));
  // What nothing points at stands next to what it points at.
  const pointed = new Set(directed.filter(([from, to]) => from !== to).map(([, to]) => to));
  nodes.forEach((_, at) => { if (!pointed.has(at) && after[at].length > 0) layer[at] = Math.min(...after[at].map((to) => layer[to])) - 1; });

  const cells = nodes.map((node, at) => ({ layer: layer[at], w: node.w, h: node.h, y: 0, left: [], right: [] }));
  const chains = directed.map(([from, to]) => {
    if (from === to) return [from];
    const chain = [from];
    for (let at = layer[from] + 1; at < layer[to]; at += 1) {
      cells.push({ layer: at, w: 0, h: 6, y: 0, left: [], right: [] });
      chain.push(cells.length - 1);
    }
    chain.push(to);
    for (let at = 1; at < chain.length; at += 1) { cells[chain[at - 1]].right.push(chain[at]); cells[chain[at]].left.push(chain[at - 1]); }
    return chain;
  });
  const columns = [];
  cells.forEach((cell, at) => { (columns[cell.layer] = columns[cell.layer] || []).push(at); });
  for (let at = 0; at < columns.length; at += 1) columns[at] = columns[at] || [];
  const rank = cells.map(() => 0);
  const number = (column) => column.forEach((at, index) => { rank[at] = index; });
  columns.forEach(number);
  const mean = (list, value, other) => (list.length > 0 ? list.reduce((sum, at) => sum + value(at), 0) / list.length : other);
  const crossings = () => {
    let count = 0;
    columns.forEach((column) => {
      const ends = column.flatMap((at) => cells[at].right.map((to) => rank[to]));
      if (ends.length > 400) return;
      for (let a = 0; a < ends.length; a += 1) for (let b = a + 1; b < ends.length; b += 1) if (ends[a] > ends[b]) count += 1;
    });
    return count;
  };
  let best = [crossings(), columns.map((column) => column.slice())];
  for (let sweep = 0; sweep < 16; sweep += 1) {
    const forward = sweep % 2 === 0;
    (forward ? columns : columns.slice().reverse()).forEach((column) => {
      const key = new Map(column.map((at) => [at, mean(forward ? cells[at].left : cells[at].right, (other) => rank[other], rank[at])]));
      column.sort((a, b) => key.get(a) - key.get(b) || rank[a] - rank[b]);
      number(column);
    });
    const count = crossings();
    if (count < best[0]) best = [count, columns.map((column) => column.slice())];
  }
  columns.forEach((column, index) => { columns[index] = best[1][index]; number(columns[index]); });

  // Heights: as near as possible to what a cell is joined with, in the order of the column, without overlap.
  const place = (column, wanted) => {
    const offsets = [];
    let offset = 0;
    column.forEach((at, index) => {
      if (index > 0) offset += cells[column[index - 1]].h / 2 + ROW + cells[at].h / 2;
      offsets.push(offset);
    });
    const blocks = [];
    column.forEach((at, index) => {
      blocks.push({ sum: wanted(at) - offsets[index], count: 1 });
      while (blocks.length > 1) {
        const [a, b] = blocks.slice(-2);
        if (a.sum / a.count <= b.sum / b.count) break;
        blocks.splice(-2, 2, { sum: a.sum + b.sum, count: a.count + b.count });
      }
    });
    let index = 0;
    blocks.forEach((block) => {
      for (let step = 0; step < block.count; step += 1) { cells[column[index]].y = block.sum / block.count + offsets[index]; index += 1; }
    });
  };
  columns.forEach((column) => place(column, () => 0));
  for (let round = 0; round < 10; round += 1) {
    (round % 2 === 0 ? columns : columns.slice().reverse()).forEach((column) => place(column, (at) => {
      const near = [...cells[at].left, ...cells[at].right];
      return mean(near, (other) => cells[other].y, cells[at].y);
    }));
  }
  const x = [];
  let edge = 20;
  columns.forEach((column, index) => {
    const width = Math.max(0, ...column.map((at) => cells[at].w));
    column.forEach((at) => { x[at] = edge + (width - cells[at].w) / 2; cells[at].from = edge; cells[at].to = edge + width; });
    edge += width + (index + 1 < columns.length ? GAP : 0);
  });
  const top = Math.min(0, ...cells.map((cell) => cell.y - cell.h / 2));
  cells.forEach((cell) => { cell.y += 30 - top; });

  // Lines leave and reach a box at places of their own, in the order of where they lead.
  const ports = new Map();
  const port = (at, side, line, other) => {
    const key = `${at} ${side}`;
    if (!ports.has(key)) ports.set(key, []);
    ports.get(key).push([line, other]);
  };
  chains.forEach((chain, line) => {
    if (chain.length < 2) return;
    port(chain[0], 'right', line, chain[1]);
    port(chain[chain.length - 1], 'left', line, chain[chain.length - 2]);
  });
  const height = new Map();
  ports.forEach((list, key) => {
    const cell = cells[Number(key.split(' ')[0])];
    list.sort((a, b) => cells[a[1]].y - cells[b[1]].y || a[0] - b[0]);
    list.forEach(([line], index) => height.set(`${key} ${line}`, cell.y - cell.h / 2 + cell.h * (index + 1) / (list.length + 1)));
  });
  const routes = chains.map((chain, line) => {
    if (chain.length < 2) {
      const cell = cells[chain[0]];
      const right = x[chain[0]] + cell.w;
      return [[right, cell.y - 5], [right + 26, cell.y - 20], [right + 26, cell.y + 12], [right, cell.y + 5]];
    }
    const points = [];
    chain.forEach((at, index) => {
      const cell = cells[at];
      if (index === 0) {
        const y = height.get(`${at} right ${line}`);
        points.push([x[at] + cell.w, y], [cell.to, y]);
      } else if (index === chain.length - 1) {
        const y = height.get(`${at} left ${line}`);
        points.push([cell.from, y], [x[at], y]);
      } else points.push([cell.from, cell.y], [cell.to, cell.y]);
    });
    return turned[line] ? points.reverse() : points;
  });
  return {
    corners: nodes.map((node, at) => [x[at], cells[at].y - node.h / 2]),
    routes,
    width: edge + 60,
    height: Math.max(60, ...cells.map((cell) => cell.y + cell.h / 2)) + 30,
  };
};
