//! Logs of real firmware, and what an attacker may make of a log.

use std::collections::BTreeMap;
use std::path::Path;

use super::*;
use crate::digest::{Digest, HashAlg, decode_hex};
use crate::evidence::MAX_EVENT_LOG;
use crate::tpm::PcrValues;

const BANK: HashAlg = HashAlg::Sha256;

/// The log of a real boot, and the registers as the TPM had them.
fn real(firmware: &str) -> (Vec<u8>, PcrValues) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data/event-logs")
        .join(firmware);
    let log = std::fs::read(folder.join("binary_bios_measurements")).unwrap();
    let values = std::fs::read_to_string(folder.join("pcrs.json")).unwrap();
    let values: BTreeMap<HashAlg, BTreeMap<String, String>> =
        serde_json::from_str(&values).unwrap();
    let mut pcrs = PcrValues::default();
    for (bank, registers) in values {
        for (pcr, hex) in registers {
            let value = Digest::new(bank, &decode_hex(hex.as_bytes()).unwrap()).unwrap();
            pcrs.set(pcr.parse().unwrap(), value);
        }
    }
    (log, pcrs)
}

/// A log that firmware might have written, with the registers it leads to.
struct Firmware {
    log: Vec<u8>,
    pcrs: PcrValues,
}

impl Firmware {
    fn new() -> Self {
        let mut announcement = b"Spec ID Event03\0".to_vec();
        announcement.extend([0, 0, 0, 0, 0, 2, 0, 2, 1, 0, 0, 0]);
        announcement.extend(BANK.tpm_id().to_le_bytes());
        announcement.extend([32, 0, 0]);
        let mut log = [0_u32, 3].map(u32::to_le_bytes).concat();
        log.extend([0; 20]);
        log.extend(u32::try_from(announcement.len()).unwrap().to_le_bytes());
        log.extend(announcement);
        let mut pcrs = PcrValues::default();
        for pcr in 0..10 {
            pcrs.set(pcr, Digest::zero(BANK));
        }
        Firmware { log, pcrs }
    }

    /// Measures `measured`, and says that it was `data`.
    fn event(&mut self, pcr: u8, kind: &str, measured: &[u8], data: &[u8]) -> &mut Self {
        let kind = EventKind::from_name(kind).unwrap();
        let digest = BANK.hash(&[measured]);
        self.log
            .extend([u32::from(pcr), kind.0, 1].map(u32::to_le_bytes).concat());
        self.log.extend(BANK.tpm_id().to_le_bytes());
        self.log.extend(digest.as_bytes());
        self.log
            .extend(u32::try_from(data.len()).unwrap().to_le_bytes());
        self.log.extend(data);
        if kind != EventKind::NO_ACTION {
            let value = self.pcrs.get(BANK, pcr).unwrap();
            self.pcrs.set(pcr, value.extend(digest.as_bytes()));
        }
        self
    }

    fn secure_boot(&mut self, on: u8) -> &mut Self {
        let data = variable("SecureBoot", &[on]);
        self.event(7, "EV_EFI_VARIABLE_DRIVER_CONFIG", &data, &data)
    }

    fn separators(&mut self) -> &mut Self {
        for pcr in 0..=7 {
            self.event(pcr, "EV_SEPARATOR", &[0; 4], &[0; 4]);
        }
        self
    }

    fn loads(&mut self, program: &[u8]) -> &mut Self {
        self.event(
            4,
            "EV_EFI_BOOT_SERVICES_APPLICATION",
            program,
            b"\x04\x01device path",
        )
    }

    fn findings(&self, policy: &BootPolicy) -> Vec<String> {
        let log = EventLog::parse(&self.log).unwrap();
        let boot = log.explain(BANK, &self.pcrs).unwrap();
        policy
            .judge(&boot)
            .iter()
            .map(ToString::to_string)
            .collect()
    }
}

fn variable(name: &str, value: &[u8]) -> Vec<u8> {
    let mut data = uuid::uuid!("8be4df61-93ca-11d2-aa0d-00e098032b8c")
        .to_bytes_le()
        .to_vec();
    data.extend(u64::try_from(name.len()).unwrap().to_le_bytes());
    data.extend(u64::try_from(value.len()).unwrap().to_le_bytes());
    data.extend(name.encode_utf16().flat_map(u16::to_le_bytes));
    data.extend(value);
    data
}

/// Secure Boot on, one boot loader, one command line.
fn policy() -> BootPolicy {
    let mut loader = EventRule::new(4, "the boot loader");
    loader.digests.insert(BANK.hash(&[b"grub"]));
    let mut command_line = EventRule::new(8, "the command line");
    command_line.text =
        Some(TextPattern::parse("/vmlinuz-* root=/dev/vda ima_policy=tcb").unwrap());
    BootPolicy {
        secure_boot: Some(true),
        rules: vec![loader, command_line],
        ..BootPolicy::default()
    }
}

const COMMAND_LINE: &str = "/vmlinuz-6.1 root=/dev/vda ima_policy=tcb";

fn good() -> Firmware {
    let mut firmware = Firmware::new();
    firmware.secure_boot(1).separators().loads(b"grub");
    command_line(&mut firmware, COMMAND_LINE);
    firmware
}

fn command_line(firmware: &mut Firmware, text: &str) {
    let data = format!("kernel_cmdline: {text}\0");
    firmware.event(8, "EV_IPL", text.as_bytes(), data.as_bytes());
}

#[test]
fn logs_of_real_firmware_lead_to_the_registers_of_the_tpm() {
    for firmware in ["ovmf", "seabios"] {
        let (bytes, pcrs) = real(firmware);
        let log = EventLog::parse(&bytes).unwrap();
        assert_eq!(log.banks(), HashAlg::ALL);
        for bank in [HashAlg::Sha1, HashAlg::Sha256] {
            log.explain(bank, &pcrs)
                .unwrap_or_else(|error| panic!("{firmware} {bank}: {error}"));
        }
    }
}

#[test]
fn what_ovmf_measured_is_understood() {
    let (bytes, pcrs) = real("ovmf");
    let log = EventLog::parse(&bytes).unwrap();
    let boot = log.explain(BANK, &pcrs).unwrap();
    let contents: Vec<(u8, String)> = boot
        .events()
        .map(|(event, digest)| (event.pcr, Content::of(event, &digest).to_string()))
        .collect();
    for known in [
        (7, "variable `SecureBoot`"),
        (7, "variable `dbx`"),
        (4, "`Calling EFI Application from Boot Option`"),
        (3, "the separator"),
        // Its digest is of the command line, which the log does not have.
        (9, "content known by its digest alone"),
    ] {
        assert!(
            contents.contains(&(known.0, known.1.to_owned())),
            "{known:?}: {contents:?}"
        );
    }
    let secure = BootPolicy {
        secure_boot: Some(true),
        unjudged: (0..10).collect(),
        rules: vec![],
    };
    assert_eq!(
        secure.judge(&boot),
        [Unaccepted::SecureBoot {
            found: "off",
            wanted: "on"
        }]
    );
}

/// Nothing of a log can be changed so that other measurements seem to have led to the quoted values.
#[test]
fn no_change_of_a_real_log_hides_a_measurement() {
    for firmware in ["ovmf", "seabios"] {
        let (bytes, pcrs) = real(firmware);
        let log = EventLog::parse(&bytes).unwrap();
        let extended = |boot: &Explained<'_, '_>| -> Vec<Vec<Digest>> {
            let of = |pcr| {
                boot.events()
                    .filter(move |(event, _)| event.pcr == pcr)
                    .map(|(_, digest)| digest)
                    .collect()
            };
            (0..10).map(of).collect()
        };
        let honest = extended(&log.explain(BANK, &pcrs).unwrap());
        let mut explained = 0;
        for place in 0..bytes.len() {
            for bit in [0x01, 0x80] {
                let mut changed = bytes.clone();
                changed[place] ^= bit;
                let Ok(log) = EventLog::parse(&changed) else {
                    continue;
                };
                let Ok(boot) = log.explain(BANK, &pcrs) else {
                    continue;
                };
                explained += 1;
                assert_eq!(extended(&boot), honest, "byte {place}");
            }
            assert!(EventLog::parse(&bytes[..place]).is_err() || log_ends_at(&bytes, place));
        }
        assert!(
            explained > 0,
            "types and contents of events are covered by nothing"
        );
    }
}

/// Whether a prefix is a whole log by itself; it then leads to other values.
fn log_ends_at(bytes: &[u8], place: usize) -> bool {
    let (_, pcrs) = real("ovmf");
    EventLog::parse(&bytes[..place]).is_ok_and(|log| log.explain(BANK, &pcrs).is_err())
}

#[test]
fn a_boot_as_the_policy_wants_it_is_accepted() {
    assert_eq!(good().findings(&policy()), [""; 0]);
}

#[test]
fn everything_that_is_wrong_is_said_at_once() {
    let mut firmware = Firmware::new();
    firmware.secure_boot(0).separators().loads(b"bootkit");
    command_line(
        &mut firmware,
        "/vmlinuz-6.1 root=/dev/vda ima_policy=tcb init=/evil",
    );
    let findings = firmware.findings(&policy());
    let expected = [
        "is not accepted",
        "`/vmlinuz-6.1 root=/dev/vda ima_policy=tcb init=/evil`",
        "Secure Boot is off, the policy wants it on",
        "PCR 4: the boot loader was not measured",
        "PCR 8: the command line was not measured",
    ];
    assert_eq!(findings.len(), expected.len(), "{findings:#?}");
    for (finding, expected) in findings.iter().zip(expected) {
        assert!(finding.contains(expected), "{findings:#?}");
    }
}

#[test]
fn secure_boot_cannot_be_switched_on_after_the_fact() {
    // With it off, whoever runs later measures that it is on.
    let mut late = Firmware::new();
    late.secure_boot(0)
        .separators()
        .secure_boot(1)
        .loads(b"grub");
    command_line(&mut late, COMMAND_LINE);
    assert_eq!(late.findings(&policy()).len(), 1);
    // Firmware that measures nothing of it.
    let mut silent = Firmware::new();
    silent.separators().secure_boot(1).loads(b"grub");
    command_line(&mut silent, COMMAND_LINE);
    assert_eq!(silent.findings(&policy()).len(), 1);
    // The log says that it was on, the digest is of another value.
    let mut liar = Firmware::new();
    liar.event(
        7,
        "EV_EFI_VARIABLE_DRIVER_CONFIG",
        &variable("SecureBoot", &[0]),
        &variable("SecureBoot", &[1]),
    );
    liar.separators().loads(b"grub");
    command_line(&mut liar, COMMAND_LINE);
    assert_eq!(
        liar.findings(&policy()).len(),
        2,
        "not believed, and not accepted"
    );
}

#[test]
fn another_type_or_text_makes_no_event_acceptable() {
    for kind in [
        "EV_SEPARATOR",
        "EV_ACTION",
        "EV_EFI_ACTION",
        "EV_EFI_VARIABLE_BOOT",
        "EV_IPL",
        "EV_EVENT_TAG",
    ] {
        for data in [
            &b"Calling EFI Application from Boot Option"[..],
            &[0; 4],
            b"grub",
            b"kernel_cmdline: grub",
        ] {
            let mut firmware = good();
            firmware.event(4, kind, b"bootkit", data);
            let findings = firmware.findings(&policy());
            assert!(
                findings.len() == 1 && findings[0].contains("is not accepted"),
                "{kind}: {findings:#?}"
            );
        }
    }
    // An accepted program in another register is not accepted there.
    let mut elsewhere = good();
    elsewhere.event(2, "EV_EFI_BOOT_SERVICES_DRIVER", b"grub", b"");
    assert_eq!(elsewhere.findings(&policy()).len(), 1);
    // A second separator would hide where firmware ended.
    let mut twice = good();
    twice.event(7, "EV_SEPARATOR", &[0; 4], &[0; 4]);
    assert_eq!(twice.findings(&policy()).len(), 1);
}

#[test]
fn an_event_that_claims_not_to_be_extended_does_not_lead_to_the_quote() {
    let firmware = good();
    let log = EventLog::parse(&firmware.log).unwrap();
    let loader = log
        .events()
        .iter()
        .find(|event| event.pcr == 4 && event.kind != EventKind::SEPARATOR)
        .unwrap();
    let needle = [4_u32, loader.kind.0].map(u32::to_le_bytes).concat();
    let place = firmware
        .log
        .windows(8)
        .position(|window| window == needle)
        .unwrap();
    let mut hidden = firmware.log.clone();
    hidden[place + 4..place + 8].copy_from_slice(&EventKind::NO_ACTION.0.to_le_bytes());
    let log = EventLog::parse(&hidden).unwrap();
    assert_eq!(
        log.explain(BANK, &firmware.pcrs).unwrap_err(),
        Unexplained::Registers(vec![4])
    );
}

#[test]
fn the_locality_of_the_start_counts_once_and_only_before_the_first_measurement() {
    let locality = |value| [&b"StartupLocality\0"[..], &[value]].concat();
    let mut firmware = Firmware::new();
    firmware.event(0, "EV_NO_ACTION", b"", &locality(3));
    let log = EventLog::parse(&firmware.log).unwrap();
    let value = log.replay(BANK).unwrap().get(BANK, 0).unwrap();
    assert_eq!(value.as_bytes().last(), Some(&3));
    firmware.event(0, "EV_NO_ACTION", b"", &locality(0));
    assert_eq!(
        EventLog::parse(&firmware.log).unwrap().replay(BANK),
        Err(Unexplained::Locality(2))
    );
    let mut late = good();
    late.event(0, "EV_NO_ACTION", b"", &locality(3));
    assert!(matches!(
        EventLog::parse(&late.log).unwrap().replay(BANK),
        Err(Unexplained::Locality(_))
    ));
    let mut odd = Firmware::new();
    odd.event(0, "EV_NO_ACTION", b"", &locality(7));
    assert!(EventLog::parse(&odd.log).unwrap().replay(BANK).is_err());
}

#[test]
fn firmware_that_does_not_end_its_measurements_is_refused() {
    let mut firmware = Firmware::new();
    firmware.secure_boot(1).loads(b"grub");
    command_line(&mut firmware, COMMAND_LINE);
    let findings = firmware.findings(&policy());
    assert_eq!(findings.len(), 8, "{findings:#?}");
    // Firmware that gave up says so by another separator.
    let mut failed = Firmware::new();
    failed.secure_boot(1);
    for pcr in 0..=7 {
        failed.event(pcr, "EV_SEPARATOR", &[1, 0, 0, 0], &[1, 0, 0, 0]);
    }
    failed.loads(b"grub");
    command_line(&mut failed, COMMAND_LINE);
    assert_eq!(failed.findings(&policy()).len(), 16);
}

#[test]
fn a_log_of_another_bank_or_form_is_refused() {
    let firmware = good();
    let log = EventLog::parse(&firmware.log).unwrap();
    assert_eq!(
        log.explain(HashAlg::Sha384, &firmware.pcrs).unwrap_err(),
        Unexplained::Bank(HashAlg::Sha384)
    );
    let mut legacy = [0_u32, 8].map(u32::to_le_bytes).concat();
    legacy.extend([7; 20]);
    legacy.extend([0; 4]);
    assert_eq!(EventLog::parse(&legacy), Err(EventLogError::Legacy));
    assert_eq!(
        EventLog::parse(&vec![0; MAX_EVENT_LOG + 1]),
        Err(EventLogError::TooLong)
    );
    assert!(EventLog::parse(b"").is_err());
    let mut other = policy();
    for rule in &mut other.rules {
        rule.digests = rule
            .digests
            .iter()
            .map(|_| HashAlg::Sha384.hash(&[b"grub"]))
            .collect();
    }
    assert!(good().findings(&other)[0].contains("no sha256 digests"));
}
