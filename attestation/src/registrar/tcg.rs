//! The TCG's identifiers of a TPM, in the subject alternative name of its EK certificate.

use x509_cert::ext::pkix::SubjectAltName;
use x509_cert::ext::pkix::name::GeneralName;
use x509_cert::name::Name;

const MANUFACTURER: &str = "2.23.133.2.1";
const MODEL: &str = "2.23.133.2.2";
const VERSION: &str = "2.23.133.2.3";

/// What an EK certificate says about the TPM.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct TpmIdentity {
    /// The TCG's identifier of the manufacturer, such as `id:49465800`.
    pub manufacturer: String,
    /// The model.
    pub model: String,
    /// The version of the firmware.
    pub version: String,
}

impl TpmIdentity {
    /// The manufacturer as four letters, such as `IFX`.
    pub fn manufacturer_letters(&self) -> String {
        let digits = self
            .manufacturer
            .strip_prefix("id:")
            .unwrap_or(&self.manufacturer);
        crate::digest::decode_hex(digits.as_bytes())
            .unwrap_or_default()
            .into_iter()
            .filter(u8::is_ascii_graphic)
            .map(char::from)
            .collect()
    }

    /// Whether this TPM is software: fit for tests, no protection against the host.
    pub fn is_software(&self) -> bool {
        self.model.to_ascii_lowercase().contains("swtpm")
    }
}

/// The identifiers in a subject alternative name; nothing when one is missing or there twice.
pub(super) fn identity_of(names: &SubjectAltName) -> Option<TpmIdentity> {
    let mut found: [Option<String>; 3] = [None, None, None];
    for name in &names.0 {
        if let GeneralName::DirectoryName(name) = name {
            collect(name, &mut found)?;
        }
    }
    let [manufacturer, model, version] = found;
    Some(TpmIdentity {
        manufacturer: manufacturer?.to_ascii_lowercase(),
        model: model?,
        version: version?,
    })
}

fn collect(name: &Name, found: &mut [Option<String>; 3]) -> Option<()> {
    let [manufacturer, model, version] = found;
    for attribute in name.iter() {
        let slot = match attribute.oid.to_string().as_str() {
            MANUFACTURER => &mut *manufacturer,
            MODEL => &mut *model,
            VERSION => &mut *version,
            _ => continue,
        };
        let text = std::str::from_utf8(attribute.value.value()).ok()?;
        if slot.replace(text.to_owned()).is_some() {
            return None;
        }
    }
    Some(())
}
