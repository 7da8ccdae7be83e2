//! Reference values: what may boot, run and be measured.
//!
//! [`ReferenceValues`] are the document; [`Whitelist`] is the same, made ready to be asked;
//! [`ReferenceStore`] keeps it. Values come from images and root file systems ([`from_image`],
//! [`from_root`]), can be compared ([`diff`]), and travel signed ([`export`], [`import`]).

mod appraise;
pub mod cli;
mod diff;
mod event_log;
mod image;
mod layer;
mod model;
mod packed;
mod parts;
mod rootfs;
mod signed;
mod store;

pub use appraise::{ContainerImage, Mismatch, Whitelist};
pub use diff::{Change, ImageDiff, diff};
pub use image::{ImageError, ImageOptions, from_image};
pub use layer::{LayerError, Tree};
pub use model::{
    DigestSet, FileSet, HostReference, ImageReference, OsReference, PathText, ReferenceValues,
    RuntimeReference, measured_path,
};
pub use rootfs::{RootError, from_root};
pub use signed::{ImportError, Imported, export, import};
pub use store::{Kind, ReferenceStore, StoreError};
