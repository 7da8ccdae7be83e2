//! The commands of a document: what its `console` blocks say, in their order.

/// One command with what it prints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    /// The line of the document, counted from 1.
    pub(crate) line: usize,
    /// The machine it is typed at.
    pub(crate) machine: String,
    /// The command, of several lines if it goes on.
    pub(crate) command: String,
    /// The lines it prints; none if the document shows none. `…` stands for anything.
    pub(crate) output: Vec<String>,
}

/// All steps of a document. A prompt is the name of a machine and `#`.
pub(crate) fn steps(text: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut inside = false;
    let mut ends_with: Option<String> = None;
    for (number, line) in text.lines().enumerate() {
        if line.starts_with("```") {
            inside = !inside && line == "```console";
            continue;
        }
        if !inside {
            continue;
        }
        if let Some(step) = steps.last_mut()
            && (ends_with.is_some() || step.command.ends_with('\\'))
        {
            step.command += "\n";
            step.command += line;
            if ends_with.as_deref() == Some(line) {
                ends_with = None;
            }
            continue;
        }
        match line.split_once("# ") {
            Some((machine, command)) if is_name(machine) => {
                ends_with = here_document(command);
                steps.push(Step {
                    line: number + 1,
                    machine: machine.to_owned(),
                    command: command.to_owned(),
                    output: Vec::new(),
                });
            }
            _ => {
                let step = steps.last_mut().expect("a block starts with a command");
                step.output.push(line.to_owned());
            }
        }
    }
    steps
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
}

/// The word that ends what follows a command (`<<'END'`).
fn here_document(command: &str) -> Option<String> {
    let (_, after) = command.split_once("<<")?;
    let word: String = after
        .trim_start_matches(['\'', '"'])
        .chars()
        .take_while(char::is_ascii_alphanumeric)
        .collect();
    (!word.is_empty()).then_some(word)
}

/// Whether a printed text is the one shown.
pub(crate) fn matches(shown: &[String], printed: &str) -> bool {
    if shown.is_empty() {
        return true;
    }
    let printed: Vec<&str> = printed.trim_end().lines().map(str::trim_end).collect();
    lines_match(shown, &printed)
}

fn lines_match(shown: &[String], printed: &[&str]) -> bool {
    match shown {
        [] => printed.is_empty(),
        // A line of its own stands for any number of lines.
        [any, rest @ ..] if any.trim() == "…" => {
            (0..=printed.len()).any(|skipped| lines_match(rest, &printed[skipped..]))
        }
        [line, rest @ ..] => match printed {
            [first, others @ ..] => {
                line_matches(line.trim_end(), first) && lines_match(rest, others)
            }
            [] => false,
        },
    }
}

fn line_matches(shown: &str, printed: &str) -> bool {
    let mut pieces = shown.split('…');
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = printed.strip_prefix(first) else {
        return false;
    };
    let pieces: Vec<&str> = pieces.collect();
    let Some((last, middle)) = pieces.split_last() else {
        return rest.is_empty();
    };
    for piece in middle {
        let Some(place) = rest.find(piece) else {
            return false;
        };
        rest = &rest[place + piece.len()..];
    }
    rest.ends_with(last)
}

#[test]
fn commands_are_read_as_they_are_written() {
    let text = "\
text
```console
node-1# cat > /etc/x <<'END'
[a]
END
node-2# locus gate workers
NAME    TRUST
node-1  trusted   …
```
```toml
node-9# not a command
```
";
    let steps = steps(text);
    assert_eq!(steps.len(), 2, "{steps:?}");
    assert_eq!((steps[0].line, steps[0].machine.as_str()), (3, "node-1"));
    assert_eq!(steps[0].command, "cat > /etc/x <<'END'\n[a]\nEND");
    assert_eq!(steps[1].output.len(), 2);
    assert!(matches(
        &steps[1].output,
        "NAME    TRUST\nnode-1  trusted   today\n"
    ));
    assert!(!matches(
        &steps[1].output,
        "NAME    TRUST\nnode-1  untrusted   today\n"
    ));
    assert!(!matches(&steps[1].output, "NAME    TRUST\n"));
    assert!(matches(&["…".to_owned(), "end".to_owned()], "a\nb\nend\n"));
}
