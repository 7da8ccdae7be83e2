//! Evidence on its way from the agent to the judgement.

use std::any::Any;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Evidence as it was received. Clones share it.
#[derive(Clone, Default)]
pub struct Received {
    bytes: Arc<Vec<u8>>,
    /// The room that was made for it, free again when the last clone is gone.
    _room: Option<Arc<dyn Any + Send + Sync>>,
}

impl Received {
    /// Evidence that takes room until nobody looks at it any more.
    pub fn in_room(bytes: Vec<u8>, room: impl Any + Send + Sync) -> Self {
        Received {
            bytes: Arc::new(bytes),
            _room: Some(Arc::new(room)),
        }
    }
}

impl From<Vec<u8>> for Received {
    fn from(bytes: Vec<u8>) -> Self {
        Received {
            bytes: Arc::new(bytes),
            _room: None,
        }
    }
}

impl Deref for Received {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Eq for Received {}

impl PartialEq for Received {
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }
}

impl fmt::Debug for Received {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes of evidence", self.bytes.len())
    }
}

impl Serialize for Received {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        crate::tpm::base64_bytes::serialize(&self.bytes, serializer)
    }
}

impl<'de> Deserialize<'de> for Received {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(crate::tpm::base64_bytes::deserialize(deserializer)?.into())
    }
}
