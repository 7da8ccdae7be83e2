//! Reference values, kept.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::appraise::Whitelist;
use super::model::{
    DigestSet, FileSet, HostReference, ImageReference, OsReference, PathText, ReferenceValues,
    RuntimeReference,
};
use super::signed::Imported;
use crate::database::{Database, DatabaseError, Location, Migration, Schema, Transaction, params};

/// The database; "LoRV" says whose it is.
const SCHEMA: Schema = Schema {
    name: "locus_reference",
    application: 0x4c6f_5256,
    migrations: &[Migration::same(TABLES)],
};
const TABLES: &str = "
    CREATE TABLE reference (
        kind TEXT NOT NULL CHECK (kind IN ('os', 'image', 'runtime', 'host')),
        name TEXT NOT NULL CHECK (length(name) > 0),
        body TEXT NOT NULL,
        PRIMARY KEY (kind, name)
    ) STRICT;
    CREATE TABLE state (
        id INTEGER PRIMARY KEY CHECK (id = 1),
        generation INTEGER NOT NULL,
        imported INTEGER
    ) STRICT;
    INSERT INTO state VALUES (1, 0, NULL);
";

/// The kinds of reference values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Operating systems.
    Os,
    /// Images.
    Image,
    /// Container runtimes.
    Runtime,
    /// Root file systems of workers.
    Host,
}

impl Kind {
    const fn name(self) -> &'static str {
        match self {
            Kind::Os => "os",
            Kind::Image => "image",
            Kind::Runtime => "runtime",
            Kind::Host => "host",
        }
    }
}

/// Why the store could not do it.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database cannot be used.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// A stored value cannot be read.
    #[error("the stored reference value `{0}` cannot be read")]
    Unreadable(String),
    /// There is no value of that name.
    #[error("there is no reference value `{0}`")]
    NotFound(String),
    /// The values to import are not newer than those imported before.
    #[error(
        "the reference values have the sequence number {found}, and {present} was imported already"
    )]
    Rollback {
        /// Of the values to import.
        found: u64,
        /// Of the values present.
        present: u64,
    },
}

/// The list that was made last, and the generation of the values that it was made of.
type Current = Option<(u64, Arc<Whitelist>)>;

/// Reference values in a database, and the same values ready to be asked.
///
/// Every change is one transaction; whoever asks keeps the list they got until they ask again.
pub struct ReferenceStore {
    database: Mutex<Database>,
    current: Mutex<Current>,
}

impl ReferenceStore {
    /// Opens or creates the store at a path.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        Ok(Self::with(Database::open(path, &SCHEMA)?))
    }

    /// Opens or makes the database where it is: `reference.db` in a folder, or a store that gates share.
    pub fn open_at(location: &Location, folder: &Path) -> Result<Self, StoreError> {
        let database = location.open(folder, "reference.db", &SCHEMA)?;
        Ok(Self::with(database))
    }

    /// A store that ends with the process.
    pub fn in_memory() -> Result<Self, StoreError> {
        Ok(Self::with(Database::in_memory(&SCHEMA)?))
    }

    fn with(database: Database) -> Self {
        ReferenceStore {
            database: Mutex::new(database),
            current: Mutex::new(None),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Database> {
        // A panic elsewhere leaves no transaction behind: it was rolled back when dropped.
        self.database.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change<T>(
        &self,
        mut change: impl FnMut(&Transaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.lock().change(|on| {
            let done = change(on)?;
            on.execute("UPDATE state SET generation = generation + 1", &[])?;
            Ok(done)
        })
    }

    fn put<T: Serialize>(&self, kind: Kind, name: &str, value: &T) -> Result<(), StoreError> {
        self.change(|transaction| put(transaction, kind, name, value))
    }

    /// Adds or replaces an operating system.
    pub fn put_os(&self, name: &str, os: &OsReference) -> Result<(), StoreError> {
        self.put(Kind::Os, name, os)
    }

    /// Adds or replaces an image.
    pub fn put_image(&self, name: &str, image: &ImageReference) -> Result<(), StoreError> {
        self.put(Kind::Image, name, image)
    }

    /// Adds or replaces a container runtime.
    pub fn put_runtime(&self, name: &str, runtime: &RuntimeReference) -> Result<(), StoreError> {
        self.put(Kind::Runtime, name, runtime)
    }

    /// Adds or replaces a root file system.
    pub fn put_host(&self, name: &str, host: &HostReference) -> Result<(), StoreError> {
        self.put(Kind::Host, name, host)
    }

    /// Adds accepted digests to files of an image.
    pub fn add_image_files(&self, name: &str, files: &FileSet) -> Result<(), StoreError> {
        self.change(|transaction| {
            let mut image: ImageReference = get(transaction, Kind::Image, name)?
                .ok_or_else(|| StoreError::NotFound(name.to_owned()))?;
            for (path, digests) in files {
                let known: &mut DigestSet = image.files.entry(path.clone()).or_default();
                known.extend(digests);
            }
            put(transaction, Kind::Image, name, &image)
        })
    }

    /// Removes files of an image: all of them, or none if one is not there.
    pub fn remove_image_files(&self, name: &str, paths: &[PathText]) -> Result<(), StoreError> {
        self.change(|transaction| {
            let mut image: ImageReference = get(transaction, Kind::Image, name)?
                .ok_or_else(|| StoreError::NotFound(name.to_owned()))?;
            for path in paths {
                if image.files.remove(path).is_none() {
                    return Err(StoreError::NotFound(path.to_string()));
                }
            }
            put(transaction, Kind::Image, name, &image)
        })
    }

    /// An image, if there is one of that name.
    pub fn image(&self, name: &str) -> Result<Option<ImageReference>, StoreError> {
        self.lock().read(|on| get(on, Kind::Image, name))
    }

    /// Removes a value.
    pub fn remove(&self, kind: Kind, name: &str) -> Result<(), StoreError> {
        self.change(|transaction| {
            let removed = transaction.execute(
                "DELETE FROM reference WHERE kind = ?1 AND name = ?2",
                params![kind.name(), name],
            )?;
            if removed == 0 {
                return Err(StoreError::NotFound(name.to_owned()));
            }
            Ok(())
        })
    }

    /// Removes all values of a kind; gives how many there were.
    pub fn clear(&self, kind: Kind) -> Result<usize, StoreError> {
        self.change(|transaction| {
            Ok(transaction.execute(
                "DELETE FROM reference WHERE kind = ?1",
                params![kind.name()],
            )?)
        })
    }

    /// Replaces everything with imported values.
    pub fn replace_all(&self, imported: &Imported) -> Result<(), StoreError> {
        self.change(|transaction| {
            let present = transaction.one("SELECT imported FROM state", &[])?;
            let present: Option<i64> = present.get(0)?;
            let present = present.and_then(|present| u64::try_from(present).ok());
            if let Some(present) = present
                && imported.sequence <= present
            {
                return Err(StoreError::Rollback {
                    found: imported.sequence,
                    present,
                });
            }
            transaction.execute("DELETE FROM reference", &[])?;
            let values = &imported.values;
            for (name, value) in &values.os {
                put(transaction, Kind::Os, name, value)?;
            }
            for (name, value) in &values.images {
                put(transaction, Kind::Image, name, value)?;
            }
            for (name, value) in &values.runtimes {
                put(transaction, Kind::Runtime, name, value)?;
            }
            for (name, value) in &values.hosts {
                put(transaction, Kind::Host, name, value)?;
            }
            let sequence = i64::try_from(imported.sequence).unwrap_or(i64::MAX);
            transaction.execute("UPDATE state SET imported = ?1", params![sequence])?;
            Ok(())
        })
    }

    /// How often the values have changed; part of what a result says it was appraised with.
    pub fn generation(&self) -> Result<u64, StoreError> {
        self.lock().read(generation)
    }

    /// The sequence number of the last import.
    pub fn imported(&self) -> Result<Option<u64>, StoreError> {
        let imported = self.lock().one("SELECT imported FROM state", &[])?;
        let imported: Option<i64> = imported.get(0)?;
        Ok(imported.and_then(|imported| u64::try_from(imported).ok()))
    }

    /// All values.
    pub fn values(&self) -> Result<ReferenceValues, StoreError> {
        self.lock().read(read_all)
    }

    /// All values, ready to be asked; built once after a change, also one by another gate.
    pub fn whitelist(&self) -> Result<Arc<Whitelist>, StoreError> {
        let database = self.lock();
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        let now: u64 = database.read(generation)?;
        if let Some((made, current)) = &*current
            && *made == now
        {
            return Ok(Arc::clone(current));
        }
        let (made, values) =
            database.read(|on| Ok::<_, StoreError>((generation(on)?, read_all(on)?)))?;
        let list = Arc::new(Whitelist::new(&values));
        *current = Some((made, Arc::clone(&list)));
        Ok(list)
    }
}

fn generation(on: &Transaction<'_>) -> Result<u64, StoreError> {
    let generation: i64 = on.one("SELECT generation FROM state", &[])?.get(0)?;
    Ok(u64::try_from(generation).unwrap_or(0))
}

impl std::fmt::Debug for ReferenceStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ReferenceStore")
    }
}

fn put<T: Serialize>(
    on: &Transaction<'_>,
    kind: Kind,
    name: &str,
    value: &T,
) -> Result<(), StoreError> {
    let body = serde_json::to_string(value).map_err(|_| StoreError::Unreadable(name.to_owned()))?;
    on.execute(
        "INSERT INTO reference VALUES (?1, ?2, ?3)
         ON CONFLICT (kind, name) DO UPDATE SET body = excluded.body",
        params![kind.name(), name, body],
    )?;
    Ok(())
}

fn get<T: DeserializeOwned>(
    on: &Transaction<'_>,
    kind: Kind,
    name: &str,
) -> Result<Option<T>, StoreError> {
    let found = on.first(
        "SELECT body FROM reference WHERE kind = ?1 AND name = ?2",
        params![kind.name(), name],
    )?;
    let Some(found) = found else { return Ok(None) };
    let body: String = found.get(0)?;
    parse(name, &body).map(Some)
}

fn parse<T: DeserializeOwned>(name: &str, body: &str) -> Result<T, StoreError> {
    serde_json::from_str(body).map_err(|_| StoreError::Unreadable(name.to_owned()))
}

fn read_all(on: &Transaction<'_>) -> Result<ReferenceValues, StoreError> {
    let mut values = ReferenceValues::default();
    let all = "SELECT kind, name, body FROM reference ORDER BY kind, name";
    for row in on.query(all, &[])? {
        let (kind, name, body): (String, String, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
        match kind.as_str() {
            "os" => {
                let value = parse(&name, &body)?;
                values.os.insert(name, value);
            }
            "image" => {
                let value = parse(&name, &body)?;
                values.images.insert(name, value);
            }
            "runtime" => {
                let value = parse(&name, &body)?;
                values.runtimes.insert(name, value);
            }
            "host" => {
                let value = parse(&name, &body)?;
                values.hosts.insert(name, value);
            }
            _ => return Err(StoreError::Unreadable(name)),
        }
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Timestamp;
    use crate::digest::{Digest, HashAlg};

    fn digest(text: &str) -> Digest {
        HashAlg::Sha256.hash(&[text.as_bytes()])
    }

    fn image(path: &str) -> ImageReference {
        ImageReference {
            digests: [digest("image")].into(),
            sandbox: false,
            files: [(path.into(), [digest(path)].into())].into(),
        }
    }

    #[test]
    fn values_are_kept_across_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("reference.db");
        let store = ReferenceStore::open(&path).unwrap();
        store.put_image("redis", &image("/redis")).unwrap();
        let more = [("/extra".into(), [digest("x")].into())].into();
        store.add_image_files("redis", &more).unwrap();
        store.put_os("debian", &OsReference::default()).unwrap();
        store.put_host("debian", &HostReference::default()).unwrap();
        store
            .put_runtime("/usr/bin/containerd", &RuntimeReference::default())
            .unwrap();
        let values = store.values().unwrap();
        assert_eq!(values.images["redis"].files.len(), 2);
        drop(store);
        let again = ReferenceStore::open(&path).unwrap();
        assert_eq!(again.values().unwrap(), values);
        assert_eq!(again.generation().unwrap(), 5);
    }

    #[test]
    fn who_asks_sees_the_newest_list() {
        let store = ReferenceStore::in_memory().unwrap();
        let before = store.whitelist().unwrap();
        assert!(!before.knows_image(&digest("image")));
        store.put_image("redis", &image("/redis")).unwrap();
        assert!(store.whitelist().unwrap().knows_image(&digest("image")));
        assert!(Arc::ptr_eq(
            &store.whitelist().unwrap(),
            &store.whitelist().unwrap()
        ));
        store.remove(Kind::Image, "redis").unwrap();
        assert!(!store.whitelist().unwrap().knows_image(&digest("image")));
    }

    #[test]
    fn what_is_not_there_cannot_be_changed() {
        let store = ReferenceStore::in_memory().unwrap();
        assert!(matches!(
            store.remove(Kind::Os, "x"),
            Err(StoreError::NotFound(_))
        ));
        assert!(store.add_image_files("x", &FileSet::new()).is_err());
        store.put_image("redis", &image("/redis")).unwrap();
        let paths = ["/redis".into(), "/none".into()];
        assert!(store.remove_image_files("redis", &paths).is_err());
        store.remove_image_files("redis", &paths[..1]).unwrap();
        assert!(store.image("redis").unwrap().unwrap().files.is_empty());
        assert_eq!(store.clear(Kind::Image).unwrap(), 1);
        assert_eq!(store.generation().unwrap(), 3, "failures change nothing");
    }

    #[test]
    fn an_import_replaces_everything_and_never_goes_back() {
        let store = ReferenceStore::in_memory().unwrap();
        store.put_image("old", &image("/old")).unwrap();
        let mut imported = Imported {
            values: ReferenceValues {
                images: [("new".to_owned(), image("/new"))].into(),
                ..ReferenceValues::default()
            },
            sequence: 4,
            exported: Timestamp::from_secs(0),
        };
        store.replace_all(&imported).unwrap();
        assert_eq!(store.values().unwrap(), imported.values);
        imported.values = ReferenceValues::default();
        assert!(matches!(
            store.replace_all(&imported),
            Err(StoreError::Rollback {
                found: 4,
                present: 4
            })
        ));
        assert_eq!(store.values().unwrap().images.len(), 1);
        assert_eq!(store.imported().unwrap(), Some(4));
    }
}
