//! Values that configurations write as text: what they mean, whether they are equal, which is less.
//!
//! Front-ends and rules both read values here, and nowhere else: what a front-end accepts, a rule can read. Each
//! kind is one module with one type that is read from text, compared exactly, and shown in one spelling:
//!
//! | kind | example | of |
//! |---|---|---|
//! | [`address`] | `10.0.0.1`, `fd00::/64` | every language |
//! | [`mac`] | `fa:16:3e:0:0:1` | Heat, Compose |
//! | [`pattern`] | `[a-z]+` | Heat's `allowed_pattern`, rules |
//! | [`number`] | `12`, `1.5`, of any size | every language |
//! | [`size`] | `512m`, `1.5gb` | Compose |
//! | [`quantity`] | `250m`, `1.5Gi` | Kubernetes |
//! | [`duration`] | `1m30s` | Compose |
//! | [`version`] | `1.2.0-rc.1` | image tags |
//! | [`dns`] | `host.example.org.` | Heat |
//! | [`cron`] | `*/5 * * * *` | Heat, Kubernetes |
//! | [`zone`] | `Europe/Vienna` | Heat, Kubernetes |
//!
//! A reader that has more than one way to fail says why ([`Malformed`]); the others give nothing.

pub mod address;
pub mod cron;
mod decimal;
pub mod dns;
pub mod duration;
pub mod mac;
pub mod number;
pub mod pattern;
pub mod quantity;
pub mod size;
pub mod version;
pub mod zone;

pub use address::{Address, Cidr, Family};
pub use duration::Duration;
pub use mac::Mac;
pub use number::Number;
pub use quantity::Quantity;
pub use size::Size;
pub use version::Version;

/// Why a text is not a value of a kind, in words that complete a message: "it is empty".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed(pub &'static str);

impl std::fmt::Display for Malformed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}
