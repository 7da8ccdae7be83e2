//! The types of events, by number and by the name that the TCG gives them.

use std::fmt;

/// The type of an event. No register covers it: it is for people, and to find what may be in an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventKind(pub u32);

impl EventKind {
    /// Tells something and is not extended.
    pub const NO_ACTION: EventKind = EventKind(0x3);
    /// Ends what the firmware measures into a register.
    pub const SEPARATOR: EventKind = EventKind(0x4);
    /// What a boot loader loads and does.
    pub const IPL: EventKind = EventKind(0xd);
    /// What the firmware does, as a sentence.
    pub const ACTION: EventKind = EventKind(0x5);
    /// A UEFI variable of the boot order; the digest is of its value alone.
    pub const VARIABLE_BOOT: EventKind = EventKind(0x8000_0002);
    /// What the UEFI firmware does, as a sentence.
    pub const EFI_ACTION: EventKind = EventKind(0x8000_0007);
    /// The locality from which a measurement before the firmware was started.
    pub const EFI_HCRTM: EventKind = EventKind(0x8000_0010);

    /// Its name, if it is a known one.
    pub fn name(self) -> Option<&'static str> {
        NAMES
            .iter()
            .find(|(number, _)| *number == self.0)
            .map(|(_, name)| *name)
    }

    /// The type of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        NAMES
            .iter()
            .find(|(_, known)| *known == name)
            .map(|(number, _)| EventKind(*number))
    }

    /// Whether events of this type hold a UEFI variable.
    pub fn is_variable(self) -> bool {
        matches!(
            self.0,
            0x8000_0001 | 0x8000_0002 | 0x8000_000c | 0x8000_00e0
        )
    }
}

impl fmt::Display for EventKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "{:#010x}", self.0),
        }
    }
}

/// Numbers and names of the TCG PC Client Platform Firmware Profile.
const NAMES: [(u32, &str); 34] = [
    (0x0, "EV_PREBOOT_CERT"),
    (0x1, "EV_POST_CODE"),
    (0x3, "EV_NO_ACTION"),
    (0x4, "EV_SEPARATOR"),
    (0x5, "EV_ACTION"),
    (0x6, "EV_EVENT_TAG"),
    (0x7, "EV_S_CRTM_CONTENTS"),
    (0x8, "EV_S_CRTM_VERSION"),
    (0x9, "EV_CPU_MICROCODE"),
    (0xa, "EV_PLATFORM_CONFIG_FLAGS"),
    (0xb, "EV_TABLE_OF_DEVICES"),
    (0xc, "EV_COMPACT_HASH"),
    (0xd, "EV_IPL"),
    (0xe, "EV_IPL_PARTITION_DATA"),
    (0xf, "EV_NONHOST_CODE"),
    (0x10, "EV_NONHOST_CONFIG"),
    (0x11, "EV_NONHOST_INFO"),
    (0x12, "EV_OMIT_BOOT_DEVICE_EVENTS"),
    (0x13, "EV_POST_CODE2"),
    (0x8000_0001, "EV_EFI_VARIABLE_DRIVER_CONFIG"),
    (0x8000_0002, "EV_EFI_VARIABLE_BOOT"),
    (0x8000_0003, "EV_EFI_BOOT_SERVICES_APPLICATION"),
    (0x8000_0004, "EV_EFI_BOOT_SERVICES_DRIVER"),
    (0x8000_0005, "EV_EFI_RUNTIME_SERVICES_DRIVER"),
    (0x8000_0006, "EV_EFI_GPT_EVENT"),
    (0x8000_0007, "EV_EFI_ACTION"),
    (0x8000_0008, "EV_EFI_PLATFORM_FIRMWARE_BLOB"),
    (0x8000_0009, "EV_EFI_HANDOFF_TABLES"),
    (0x8000_000a, "EV_EFI_PLATFORM_FIRMWARE_BLOB2"),
    (0x8000_000b, "EV_EFI_HANDOFF_TABLES2"),
    (0x8000_000c, "EV_EFI_VARIABLE_BOOT2"),
    (0x8000_0010, "EV_EFI_HCRTM_EVENT"),
    (0x8000_00e0, "EV_EFI_VARIABLE_AUTHORITY"),
    (0x8000_00e1, "EV_EFI_SPDM_FIRMWARE_BLOB"),
];
