//! Cron expressions.

const MACROS: [&str; 7] = [
    "yearly", "annually", "monthly", "weekly", "daily", "midnight", "hourly",
];

const MONTHS: [&str; 12] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];

const DAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/// Whether a text is a cron expression: five fields, or six with seconds last; or a macro such as `@daily`.
pub fn is_expression(text: &str) -> bool {
    if let Some(word) = text.strip_prefix('@') {
        return MACROS.contains(&word);
    }
    let fields: Vec<&str> = text.split_whitespace().collect();
    let limits = [(0, 59), (0, 23), (1, 31), (1, 12), (0, 7), (0, 59)];
    matches!(fields.len(), 5 | 6)
        && fields
            .iter()
            .zip(limits)
            .all(|(field, (low, high))| field.split(',').all(|part| is_part(part, low, high)))
}

fn is_part(part: &str, low: u32, high: u32) -> bool {
    let (range, step) = match part.split_once('/') {
        Some((range, step)) => (range, Some(step)),
        None => (part, None),
    };
    if step.is_some_and(|step| step.parse::<u32>().map_or(true, |n| n == 0)) {
        return false;
    }
    let one = |text: &str| {
        let text = text.split('#').next().unwrap_or("").to_lowercase();
        match text.parse::<u32>() {
            Ok(n) => (low..=high).contains(&n),
            Err(_) => MONTHS.contains(&&*text) || DAYS.contains(&&*text) || text == "l",
        }
    };
    match range {
        "*" | "?" => true,
        _ => range.split('-').count() <= 2 && range.split('-').all(one),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_within_their_limits() {
        for text in [
            "*/5 0-6 * jan mon",
            "@daily",
            "0 0 1,15 * *",
            "* * * * * 30",
        ] {
            assert!(is_expression(text), "{text}");
        }
        for text in [
            "",
            "61 * * * *",
            "* * * *",
            "@noon",
            "*/0 * * * *",
            "1-2-3 * * * *",
        ] {
            assert!(!is_expression(text), "{text}");
        }
    }
}
