//! Every template, in both forms, hashed as the kernel hashes it.
#![expect(
    clippy::expect_used,
    reason = "a test fails by panicking, in its helpers too"
)]

use locus_attestation::digest::{Digest, HashAlg};
use locus_attestation::ima::{
    Entry, Field, LogErrorKind, LogWriter, Reader, TEMPLATES, Templates, ascii, template_hash,
};

fn entries<'a>(log: &'a [u8], column: HashAlg, templates: &'a Templates) -> Vec<Entry<'a>> {
    Reader::new(log, column, templates)
        .collect::<Result<_, _>>()
        .expect("a well-formed log")
}

/// A value for each kind of field, as [`LogWriter::append`] takes it.
fn value(field: Field) -> Vec<u8> {
    let sha256 = HashAlg::Sha256.hash(&[b"content"]).to_string();
    match field {
        Field::D => HashAlg::Sha1.hash(&[b"content"]).as_bytes().to_vec(),
        Field::N | Field::NNg => b"/usr/bin/redis-server".to_vec(),
        Field::DNg | Field::DModsig => sha256.into_bytes(),
        Field::DNgV2 => format!("verity:{sha256}").into_bytes(),
        Field::Sig | Field::Buf | Field::Modsig | Field::EvmSig => vec![3, 2, 4, 0xfe],
        Field::XattrNames => b"security.selinux|security.ima".to_vec(),
        Field::XattrLengths => vec![5, 0, 0, 0, 9, 0, 0, 0],
        Field::XattrValues => vec![1; 14],
        Field::Iuid | Field::Igid => b"1000".to_vec(),
        Field::Imode => b"33261".to_vec(),
        Field::Dep => b"/usr/bin/bash:/usr/lib/systemd/systemd:swapper/0".to_vec(),
        Field::Cgn => b"system.slice".to_vec(),
        Field::CgPath => b"/system.slice/ssh.service".to_vec(),
    }
}

#[test]
fn every_template_goes_through_both_forms() {
    let templates = Templates::default();
    for (name, _) in TEMPLATES {
        let mut writer = LogWriter::new(HashAlg::Sha1, &[HashAlg::Sha256]);
        let layout = templates.layout(name.as_bytes()).unwrap();
        let values: Vec<Vec<u8>> = layout.fields().iter().map(|field| value(*field)).collect();
        let values: Vec<&[u8]> = values.iter().map(Vec::as_slice).collect();
        writer.append(name, &values).unwrap();
        let read = entries(writer.log(), HashAlg::Sha1, &templates);
        assert_eq!(read.len(), 1, "{name}");
        assert_eq!(read[0].path(), b"/usr/bin/redis-server", "{name}");
        assert_eq!(read[0].pcr(), 10);
        let line = format!("{}\n", read[0]);
        let (log, errors) = ascii::to_binary(line.as_bytes(), HashAlg::Sha1, &templates);
        assert_eq!(errors, [], "{name}: {line}");
        assert_eq!(log, writer.log(), "{name}: {line}");
    }
}

/// The reader keeps what it knows of the last template: it must notice each change of it.
#[test]
fn a_log_may_change_its_template_at_every_entry() {
    let templates = Templates::default();
    let mut together = LogWriter::new(HashAlg::Sha1, &[HashAlg::Sha256]);
    let names = || TEMPLATES.iter().chain(TEMPLATES.iter().rev());
    let mut alone = Vec::new();
    for (name, _) in names() {
        let layout = templates.layout(name.as_bytes()).unwrap();
        let values: Vec<Vec<u8>> = layout.fields().iter().map(|field| value(*field)).collect();
        let values: Vec<&[u8]> = values.iter().map(Vec::as_slice).collect();
        together.append(name, &values).unwrap();
        let mut writer = LogWriter::new(HashAlg::Sha1, &[HashAlg::Sha256]);
        writer.append(name, &values).unwrap();
        alone.push(writer);
    }
    let read = entries(together.log(), HashAlg::Sha1, &templates);
    assert_eq!(read.len(), alone.len());
    for (entry, writer) in read.iter().zip(&alone) {
        let expected = entries(writer.log(), HashAlg::Sha1, &templates);
        assert_eq!(entry.template_name(), expected[0].template_name());
        assert_eq!(entry.layout(), expected[0].layout());
        for field in entry.layout().fields() {
            assert!(entry.field(*field).is_some(), "{field:?}");
            assert_eq!(entry.field(*field), expected[0].field(*field), "{field:?}");
        }
    }
}

/// Bytes of an entry put together here by hand, from the kernel's documentation of the format.
#[test]
fn an_ima_ng_entry_is_hashed_over_lengths_and_fields() {
    let file = [0x5a_u8; 32];
    let mut data = Vec::new();
    data.extend_from_slice(&40_u32.to_le_bytes());
    data.extend_from_slice(b"sha256:\0");
    data.extend_from_slice(&file);
    data.extend_from_slice(&10_u32.to_le_bytes());
    data.extend_from_slice(b"/bin/true\0");
    let hash = HashAlg::Sha1.hash(&[&data]);
    let mut log = Vec::new();
    log.extend_from_slice(&10_u32.to_le_bytes());
    log.extend_from_slice(hash.as_bytes());
    log.extend_from_slice(&6_u32.to_le_bytes());
    log.extend_from_slice(b"ima-ng");
    log.extend_from_slice(&u32::try_from(data.len()).unwrap().to_le_bytes());
    log.extend_from_slice(&data);

    let templates = Templates::default();
    let read = entries(&log, HashAlg::Sha1, &templates);
    assert_eq!(template_hash(HashAlg::Sha1, &read[0]), hash);
    assert_eq!(
        read[0].file_digest().unwrap().known(),
        Digest::new(HashAlg::Sha256, &file)
    );
    let mut writer = LogWriter::new(HashAlg::Sha1, &[HashAlg::Sha1]);
    writer
        .ng(Digest::new(HashAlg::Sha256, &file).unwrap(), "/bin/true")
        .unwrap();
    assert_eq!(writer.log(), log);
    assert_eq!(
        writer.quoted(),
        [HashAlg::Sha1.hash(&[&[0; 20], hash.as_bytes()])]
    );
}

/// The old template has no lengths, and is hashed over a name padded to 256 bytes.
#[test]
fn an_ima_entry_is_hashed_over_a_padded_name() {
    let file = HashAlg::Sha1.hash(&[b"content"]);
    let mut padded = [0_u8; 256];
    padded[..9].copy_from_slice(b"/bin/true");
    let hash = HashAlg::Sha1.hash(&[file.as_bytes(), &padded]);
    let mut log = Vec::new();
    log.extend_from_slice(&10_u32.to_le_bytes());
    log.extend_from_slice(hash.as_bytes());
    log.extend_from_slice(&3_u32.to_le_bytes());
    log.extend_from_slice(b"ima");
    log.extend_from_slice(file.as_bytes());
    log.extend_from_slice(&9_u32.to_le_bytes());
    log.extend_from_slice(b"/bin/true");
    let templates = Templates::default();
    let read = entries(&log, HashAlg::Sha1, &templates);
    assert_eq!(template_hash(HashAlg::Sha1, &read[0]), hash);
    assert_eq!(read[0].path(), b"/bin/true");
    let line = format!("10 {} ima {} /bin/true\n", hash.to_hex(), file.to_hex());
    let (from_ascii, errors) = ascii::to_binary(line.as_bytes(), HashAlg::Sha1, &templates);
    assert_eq!((from_ascii, errors), (log, Vec::new()));
}

#[test]
fn per_bank_files_have_a_column_of_their_algorithm() {
    let templates = Templates::default();
    for column in HashAlg::ALL {
        let mut writer = LogWriter::new(column, &HashAlg::ALL);
        writer.ng(HashAlg::Sha256.hash(&[b"x"]), "/bin/x").unwrap();
        let read = entries(writer.log(), column, &templates);
        assert_eq!(
            read[0].claimed_hash(),
            template_hash(column, &read[0]).as_bytes()
        );
        let line = read[0].to_string();
        let prefixed = line.replacen(
            &template_hash(column, &read[0]).to_hex(),
            &template_hash(column, &read[0]).to_string(),
            1,
        );
        for text in [line, prefixed] {
            let (log, errors) = ascii::to_binary(text.as_bytes(), column, &templates);
            assert_eq!((log.as_slice(), errors), (writer.log(), vec![]), "{text}");
        }
    }
}

#[test]
fn all_bad_lines_of_an_ascii_log_are_reported() {
    let mut writer = LogWriter::new(HashAlg::Sha1, &[HashAlg::Sha1]);
    writer.ng(HashAlg::Sha256.hash(&[b"x"]), "/bin/x").unwrap();
    let templates = Templates::default();
    let good = entries(writer.log(), HashAlg::Sha1, &templates)[0].to_string();
    let hash = "00".repeat(20);
    let text = format!(
        "{good}\n10 {hash} ima-zz a b\nxx {hash} ima-ng a b\n10 abc ima-ng a b\n\
         10 {hash} ima-ng sha256:00 /x\n10 {hash} ima-ng sha1:{hash}\n10\n{good}\n"
    );
    let (log, errors) = ascii::to_binary(text.as_bytes(), HashAlg::Sha1, &templates);
    assert_eq!(log, [writer.log(), writer.log()].concat());
    let kinds: Vec<_> = errors
        .iter()
        .map(|error| (error.entry, error.kind.clone()))
        .collect();
    assert_eq!(
        kinds,
        [
            (1, LogErrorKind::Template("ima-zz".to_owned())),
            (2, LogErrorKind::Pcr("xx".to_owned())),
            (3, LogErrorKind::Hash(40)),
            (4, LogErrorKind::Field("d-ng")),
            (
                5,
                LogErrorKind::Columns {
                    found: 4,
                    expected: 5
                }
            ),
            (
                6,
                LogErrorKind::Columns {
                    found: 1,
                    expected: 4
                }
            ),
        ]
    );
    assert_eq!(errors[1].offset, text.find("xx ").unwrap());
}

#[test]
fn malformed_fields_are_refused() {
    let templates = Templates::default();
    let mut writer = LogWriter::new(HashAlg::Sha1, &[HashAlg::Sha1]);
    writer.ng(HashAlg::Sha256.hash(&[b"x"]), "/bin/xy").unwrap();
    let good = writer.log().to_vec();
    let kind = |log: &[u8]| {
        Reader::new(log, HashAlg::Sha1, &templates)
            .next()
            .unwrap()
            .unwrap_err()
            .kind
    };
    // A NUL inside the name would let `/bin/x` hide behind `/bin/xy`.
    let mut nul = good.clone();
    let last = nul.len() - 2;
    nul[last] = 0;
    assert_eq!(kind(&nul), LogErrorKind::Field("n-ng"));
    let mut unterminated = good.clone();
    *unterminated.last_mut().unwrap() = b'z';
    assert_eq!(kind(&unterminated), LogErrorKind::Field("n-ng"));
    // The length of a field reaches beyond the template data.
    let mut long = good.clone();
    long[38] = 0xff;
    assert_eq!(kind(&long), LogErrorKind::Fields);
    let mut huge = good.clone();
    huge[24..28].copy_from_slice(&u32::MAX.to_le_bytes());
    assert_eq!(kind(&huge), LogErrorKind::Length(u32::MAX as usize));
    for cut in 1..good.len() {
        assert_eq!(kind(&good[..cut]), LogErrorKind::Truncated, "{cut}");
    }
}
