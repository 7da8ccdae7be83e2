/** What several rules about Compose projects speak of. */
module compose/project

open compose/vocabulary

/** The project is started by `docker compose up`. */
pred plain { Composition.mode = "compose" }

/** The project is deployed by `docker stack deploy`. */
pred swarm { Composition.mode = "swarm" }

/** A service has containers: it is started, and not scaled to none. */
pred runs[s: Service] { s.active = True and s.replicas != 0 }

/** The networks that a service is on. */
fun networks_of[s: Service]: set Network { (s.references & Attachment).target & Network }
