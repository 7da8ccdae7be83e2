module util/graph[node]
// Properties of graphs: the relation is the set of edges.

open util/relation as rel

/** Every edge goes both ways. */
pred undirected[r: node -> node] { symmetric[r] }

/** No edge leads back to where it starts. */
pred noSelfLoops[r: node -> node] { irreflexive[r] }

/** Every node is reached from every other, whatever the direction of edges. */
pred weaklyConnected[r: node -> node] { all n1, n2: node | n1 in n2.*(r + ~r) }

/** Every node is reached from every other along edges. */
pred stronglyConnected[r: node -> node] { all n1, n2: node | n1 in n2.*r }

/** Every node is reached from the root. */
pred rootedAt[r: node -> node, root: node] { node in root.*r }

/** One cycle through all nodes. */
pred ring[r: node -> node] { all n: node | one n.r and rootedAt[r, n] }

/** No cycles. */
pred dag[r: node -> node] { acyclic[r, node] }

/** No cycles, and every node has at most one parent. */
pred forest[r: node -> node] {
  dag[r]
  all n: node | lone r.n
}

/** A forest with at most one root. */
pred tree[r: node -> node] {
  forest[r]
  lone root: node | no r.root
}

/** A forest where every node is reached from the root. */
pred treeRootedAt[r: node -> node, root: node] {
  forest[r]
  rootedAt[r, root]
}

/** The nodes without a parent. */
fun roots[r: node -> node]: set node { node - node.^r }

/** The nodes without a child. */
fun leaves[r: node -> node]: set node { node - node.^~r }

/** The nodes with a child. */
fun innerNodes[r: node -> node]: set node { node - leaves[r] }
