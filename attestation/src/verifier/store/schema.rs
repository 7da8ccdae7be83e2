//! The tables of the verifier's database; each migration leads from one form to the next.

use crate::database::{Migration, Schema};

/// The database; "LoVe" says whose it is.
pub(super) const SCHEMA: Schema = Schema {
    name: "locus_verifier",
    application: 0x4c6f_5665,
    migrations: MIGRATIONS,
};

/// The migrations, in order.
///
/// Versions and generations come from one sequence that never counts back, not even when rows are removed:
/// a pod that is removed and declared again is another one. Triggers write the changes, so that no statement
/// can change the trust in something without a trace.
const MIGRATIONS: &[Migration] = &[
    Migration::same(
        "
CREATE TABLE worker (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    address TEXT NOT NULL,
    trust TEXT NOT NULL,
    reason TEXT NOT NULL,
    checked INTEGER NOT NULL,
    cursor TEXT
) STRICT;
CREATE TABLE ledger (
    worker TEXT NOT NULL REFERENCES worker(id) ON DELETE CASCADE,
    part INTEGER NOT NULL,
    bytes BLOB NOT NULL,
    PRIMARY KEY (worker, part)
) STRICT;
CREATE TABLE pod (
    uid TEXT PRIMARY KEY,
    worker TEXT NOT NULL,
    description TEXT NOT NULL,
    trust TEXT NOT NULL,
    reason TEXT NOT NULL,
    checked INTEGER NOT NULL,
    token TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX pod_worker ON pod(worker);
",
    ),
    Migration {
        tables: "
CREATE TABLE change (
    version INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    what TEXT NOT NULL,
    trust TEXT NOT NULL,
    reason TEXT NOT NULL,
    at INTEGER NOT NULL
) STRICT;
ALTER TABLE worker ADD COLUMN registration TEXT;
ALTER TABLE worker ADD COLUMN version INTEGER NOT NULL DEFAULT 0;
ALTER TABLE worker ADD COLUMN generation INTEGER NOT NULL DEFAULT 0;
ALTER TABLE pod ADD COLUMN version INTEGER NOT NULL DEFAULT 0;
ALTER TABLE pod ADD COLUMN generation INTEGER NOT NULL DEFAULT 0;

CREATE TABLE container (
    pod TEXT NOT NULL REFERENCES pod(uid) ON DELETE CASCADE,
    id TEXT NOT NULL,
    description TEXT NOT NULL,
    PRIMARY KEY (pod, id, description)
) STRICT;
CREATE TABLE webhook (
    url TEXT PRIMARY KEY,
    version INTEGER NOT NULL
) STRICT;
CREATE TABLE removed_pod (
    uid TEXT PRIMARY KEY,
    worker TEXT NOT NULL REFERENCES worker(id) ON DELETE CASCADE
) STRICT;
",
        sqlite: SQLITE_TRIGGERS,
        postgres: POSTGRES_TRIGGERS,
    },
    Migration::same(
        "
ALTER TABLE worker ADD COLUMN templates TEXT;
ALTER TABLE worker ADD COLUMN committed INTEGER;
ALTER TABLE worker ADD COLUMN explained INTEGER NOT NULL DEFAULT 0;
-- Ledgers have another form: everything is read anew.
UPDATE worker SET cursor = NULL;
DELETE FROM ledger;
CREATE TABLE image (
    worker TEXT NOT NULL,
    digest TEXT NOT NULL,
    PRIMARY KEY (worker, digest)
) STRICT;
CREATE TABLE gone (
    uid TEXT PRIMARY KEY,
    worker TEXT NOT NULL,
    description TEXT NOT NULL,
    removed INTEGER NOT NULL
) STRICT;
CREATE TABLE pending (
    worker TEXT NOT NULL REFERENCES worker(id) ON DELETE CASCADE,
    what TEXT NOT NULL,
    since INTEGER NOT NULL,
    PRIMARY KEY (worker, what)
) STRICT;
",
    ),
    Migration::same(
        "
-- The templates of a worker's log are recorded with its registration.
ALTER TABLE worker DROP COLUMN templates;
",
    ),
    Migration::same(
        "
ALTER TABLE removed_pod ADD COLUMN containers TEXT NOT NULL DEFAULT '';
",
    ),
    Migration::same(
        "
-- Several gates: which of them attests a worker, and what is kept of a worker in memory.
ALTER TABLE worker ADD COLUMN revision INTEGER NOT NULL DEFAULT 0;
CREATE TABLE lease (
    worker TEXT PRIMARY KEY,
    holder TEXT NOT NULL,
    token INTEGER NOT NULL,
    expires INTEGER NOT NULL,
    due INTEGER NOT NULL
) STRICT;
CREATE TABLE gate (
    id TEXT PRIMARY KEY,
    seen INTEGER NOT NULL,
    authority TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE TABLE used (
    key TEXT PRIMARY KEY,
    request TEXT NOT NULL,
    until INTEGER NOT NULL
) STRICT;
CREATE TABLE orphan (
    uid TEXT PRIMARY KEY,
    since INTEGER NOT NULL
) STRICT;
CREATE INDEX worker_checked ON worker(trust, checked);
CREATE INDEX pod_checked ON pod(trust, checked);
",
    ),
];

const SQLITE_TRIGGERS: &str = "
CREATE TRIGGER worker_added AFTER INSERT ON worker BEGIN
    INSERT INTO change (kind, name, what, trust, reason, at)
        VALUES ('worker', new.name, 'added', new.trust, new.reason, new.checked);
    UPDATE worker SET version = last_insert_rowid(), generation = last_insert_rowid()
        WHERE id = new.id;
END;
CREATE TRIGGER worker_changed AFTER UPDATE OF trust, reason, address, registration ON worker
WHEN new.trust <> old.trust OR new.reason <> old.reason OR new.address <> old.address
    OR new.registration IS NOT old.registration BEGIN
    INSERT INTO change (kind, name, what, trust, reason, at)
        VALUES ('worker', new.name, 'changed', new.trust, new.reason, new.checked);
    UPDATE worker SET version = last_insert_rowid(),
        generation = CASE WHEN new.registration IS NOT old.registration
            THEN last_insert_rowid() ELSE generation END
        WHERE id = new.id;
END;
CREATE TRIGGER worker_removed AFTER DELETE ON worker BEGIN
    INSERT INTO change (kind, name, what, trust, reason, at)
        VALUES ('worker', old.name, 'removed', 'unknown', 'removed', old.checked);
END;
CREATE TRIGGER pod_added AFTER INSERT ON pod BEGIN
    INSERT INTO change (kind, name, what, trust, reason, at)
        VALUES ('pod', new.uid, 'added', new.trust, new.reason, new.checked);
    UPDATE pod SET version = last_insert_rowid(), generation = last_insert_rowid()
        WHERE uid = new.uid;
END;
CREATE TRIGGER pod_changed AFTER UPDATE OF trust, reason, description ON pod
WHEN new.trust <> old.trust OR new.reason <> old.reason OR new.description <> old.description BEGIN
    INSERT INTO change (kind, name, what, trust, reason, at)
        VALUES ('pod', new.uid, 'changed', new.trust, new.reason, new.checked);
    UPDATE pod SET version = last_insert_rowid(),
        generation = CASE WHEN new.description <> old.description
            THEN last_insert_rowid() ELSE generation END
        WHERE uid = new.uid;
END;
CREATE TRIGGER pod_removed AFTER DELETE ON pod BEGIN
    INSERT INTO change (kind, name, what, trust, reason, at)
        VALUES ('pod', old.uid, 'removed', 'unknown', 'removed', old.checked);
END;
";

/// The same as the triggers of SQLite.
const POSTGRES_TRIGGERS: &str = "
CREATE FUNCTION worker_trace() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    number BIGINT;
BEGIN
    IF TG_OP = 'DELETE' THEN
        INSERT INTO change (kind, name, what, trust, reason, at)
            VALUES ('worker', old.name, 'removed', 'unknown', 'removed', old.checked);
        RETURN NULL;
    END IF;
    INSERT INTO change (kind, name, what, trust, reason, at)
        VALUES ('worker', new.name, CASE TG_OP WHEN 'INSERT' THEN 'added' ELSE 'changed' END,
            new.trust, new.reason, new.checked)
        RETURNING version INTO number;
    IF TG_OP = 'INSERT' OR new.registration IS DISTINCT FROM old.registration THEN
        UPDATE worker SET version = number, generation = number WHERE worker.id = new.id;
    ELSE
        UPDATE worker SET version = number WHERE worker.id = new.id;
    END IF;
    RETURN NULL;
END
$$;
CREATE FUNCTION pod_trace() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    number BIGINT;
BEGIN
    IF TG_OP = 'DELETE' THEN
        INSERT INTO change (kind, name, what, trust, reason, at)
            VALUES ('pod', old.uid, 'removed', 'unknown', 'removed', old.checked);
        RETURN NULL;
    END IF;
    INSERT INTO change (kind, name, what, trust, reason, at)
        VALUES ('pod', new.uid, CASE TG_OP WHEN 'INSERT' THEN 'added' ELSE 'changed' END,
            new.trust, new.reason, new.checked)
        RETURNING version INTO number;
    IF TG_OP = 'INSERT' OR new.description IS DISTINCT FROM old.description THEN
        UPDATE pod SET version = number, generation = number WHERE pod.uid = new.uid;
    ELSE
        UPDATE pod SET version = number WHERE pod.uid = new.uid;
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER worker_there AFTER INSERT OR DELETE ON worker
    FOR EACH ROW EXECUTE FUNCTION worker_trace();
CREATE TRIGGER worker_changed AFTER UPDATE OF trust, reason, address, registration ON worker
    FOR EACH ROW WHEN (new.trust <> old.trust OR new.reason <> old.reason OR new.address <> old.address
        OR new.registration IS DISTINCT FROM old.registration)
    EXECUTE FUNCTION worker_trace();
CREATE TRIGGER pod_there AFTER INSERT OR DELETE ON pod
    FOR EACH ROW EXECUTE FUNCTION pod_trace();
CREATE TRIGGER pod_changed AFTER UPDATE OF trust, reason, description ON pod
    FOR EACH ROW WHEN (new.trust <> old.trust OR new.reason <> old.reason
        OR new.description <> old.description)
    EXECUTE FUNCTION pod_trace();
";
