//! Writes logs the way a kernel does, with the PCR values that belong to them.
//!
//! For the demonstration, for tests and for benchmarks: on a worker the kernel does this.

use super::reader::{Reader, write_entry};
use super::replay::{BankValue, Extend, template_hash};
use super::template::{Field, FieldFormat, TemplateError, Templates};
use crate::digest::{Digest, HashAlg};

/// A log that grows, and the PCR it is extended into.
#[derive(Clone, Debug)]
pub struct LogWriter {
    pcr: u32,
    column: HashAlg,
    templates: Templates,
    log: Vec<u8>,
    entries: u64,
    starts: Vec<usize>,
    banks: Vec<BankValue>,
}

impl LogWriter {
    /// An empty log with a template hash column of algorithm `column`, extended into some banks.
    pub fn new(column: HashAlg, banks: &[HashAlg]) -> Self {
        LogWriter {
            pcr: super::replay::DEFAULT_PCR,
            column,
            templates: Templates::default(),
            log: Vec::new(),
            entries: 0,
            starts: Vec::new(),
            banks: banks
                .iter()
                .map(|alg| BankValue::native(Digest::zero(*alg)))
                .collect(),
        }
    }

    /// Extends all banks as kernels before 5.8 did.
    #[must_use]
    pub fn padded_sha1(mut self) -> Self {
        for bank in &mut self.banks {
            bank.extend = Extend::PaddedSha1;
        }
        self
    }

    /// Writes into another PCR.
    #[must_use]
    pub fn in_pcr(mut self, pcr: u32) -> Self {
        self.pcr = pcr;
        self
    }

    /// Appends an entry of any template from the text or bytes of its fields; gives what was extended
    /// into each bank.
    ///
    /// A field is given as the ASCII log shows it, but for [`FieldFormat::Hex`] and
    /// [`FieldFormat::Digest`] fields, which are given as bytes.
    pub fn append(
        &mut self,
        template: &str,
        fields: &[&[u8]],
    ) -> Result<Vec<Digest>, TemplateError> {
        let layout = self
            .templates
            .layout(template.as_bytes())
            .ok_or_else(|| TemplateError::Field(template.to_owned()))?;
        let mut encoded = Vec::new();
        for (field, bytes) in layout.fields().iter().zip(fields) {
            encoded.push(
                encode(*field, bytes, layout.is_legacy())
                    .ok_or_else(|| TemplateError::Field(field.id().to_owned()))?,
            );
        }
        if encoded.len() != layout.fields().len() || encoded.len() != fields.len() {
            return Err(TemplateError::Field(template.to_owned()));
        }
        let unhashed = self.raw(template, &encoded, &vec![0; self.column.size()]);
        // How long a name may be is for those who read it to say.
        let parsed = Reader::new(&unhashed, self.column, &self.templates)
            .with_longest_path(usize::MAX)
            .next();
        let Some(Ok(entry)) = parsed else {
            return Err(TemplateError::Field(template.to_owned()));
        };
        let claimed = template_hash(self.column, &entry);
        let extended = extend_banks(&mut self.banks, |bank| {
            bank.extend.hashed(bank.value.alg(), &entry)
        });
        let bytes = self.raw(template, &encoded, claimed.as_bytes());
        self.push(&bytes);
        Ok(extended)
    }

    fn raw(&self, template: &str, fields: &[Vec<u8>], claimed: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        write_entry(&mut bytes, self.pcr, claimed, template.as_bytes(), fields);
        bytes
    }

    fn push(&mut self, bytes: &[u8]) {
        self.starts.push(self.log.len());
        self.log.extend_from_slice(bytes);
        self.entries += 1;
    }

    /// Appends an `ima-ng` entry.
    pub fn ng(&mut self, digest: Digest, path: &str) -> Result<Vec<Digest>, TemplateError> {
        self.append("ima-ng", &[digest.to_string().as_bytes(), path.as_bytes()])
    }

    /// Appends an `ima-cgpath` entry.
    pub fn cgpath(
        &mut self,
        dependencies: &str,
        cgroup: &str,
        digest: Digest,
        path: &str,
    ) -> Result<Vec<Digest>, TemplateError> {
        self.append(
            "ima-cgpath",
            &[
                dependencies.as_bytes(),
                cgroup.as_bytes(),
                digest.to_string().as_bytes(),
                path.as_bytes(),
            ],
        )
    }

    /// Appends a violation of an `ima-ng` log: the file changed while it was measured.
    pub fn violation(&mut self, path: &str) -> Vec<Digest> {
        let digest = Digest::zero(HashAlg::Sha1).to_string();
        let encoded: Vec<Vec<u8>> = [
            encode(Field::DNg, digest.as_bytes(), false),
            encode(Field::NNg, path.as_bytes(), false),
        ]
        .into_iter()
        .flatten()
        .collect();
        let bytes = self.raw("ima-ng", &encoded, &vec![0; self.column.size()]);
        self.push(&bytes);
        extend_banks(&mut self.banks, |bank| Digest::ones(bank.value.alg()))
    }

    /// The whole log.
    pub fn log(&self) -> &[u8] {
        &self.log
    }

    /// The log from an entry on; empty beyond the end.
    pub fn log_from(&self, entry: u64) -> &[u8] {
        let start = usize::try_from(entry)
            .ok()
            .and_then(|entry| self.starts.get(entry));
        start
            .and_then(|start| self.log.get(*start..))
            .unwrap_or(&[])
    }

    /// How many entries there are.
    pub fn entries(&self) -> u64 {
        self.entries
    }

    /// The values of the PCR, in the order of the banks.
    pub fn quoted(&self) -> Vec<Digest> {
        self.banks.iter().map(|bank| bank.value).collect()
    }
}

fn extend_banks(banks: &mut [BankValue], measured: impl Fn(&BankValue) -> Digest) -> Vec<Digest> {
    banks
        .iter_mut()
        .map(|bank| {
            let with = measured(bank);
            bank.value = bank.value.extend(with.as_bytes());
            with
        })
        .collect()
}

fn encode(field: Field, bytes: &[u8], legacy: bool) -> Option<Vec<u8>> {
    match field.format() {
        FieldFormat::Hex | FieldFormat::Digest => Some(bytes.to_vec()),
        FieldFormat::Text if legacy => Some(bytes.to_vec()),
        _ => super::ascii::field_bytes(field, bytes),
    }
}
