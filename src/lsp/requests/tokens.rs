//! What words are: functions, names that are defined and names that are used.

use std::ops::Range;

use locus_core::Sources;
use locus_frontends::language::Language;
use locus_frontends::yaml::{self, Kind, Node};
use lsp_types::{
    SemanticToken, SemanticTokenModifier, SemanticTokenType, SemanticTokens, SemanticTokensLegend,
    SemanticTokensParams, SemanticTokensResult,
};

use super::Failure;
use crate::lsp::checker::is_model;
use crate::lsp::uri;
use crate::lsp::world::{World, bytes};
use crate::session::NameKind;

const FUNCTION: u32 = 0;
const VARIABLE: u32 = 1;
const CLASS: u32 = 2;
const PROPERTY: u32 = 3;

/// The kinds of words, by the numbers that stand for them.
pub(in crate::lsp) fn legend() -> SemanticTokensLegend {
    SemanticTokensLegend {
        token_types: vec![
            SemanticTokenType::FUNCTION,
            SemanticTokenType::VARIABLE,
            SemanticTokenType::CLASS,
            SemanticTokenType::PROPERTY,
        ],
        token_modifiers: vec![SemanticTokenModifier::DECLARATION],
    }
}

/// A word: where it is, what it is, and whether it is declared there.
type Word = (Range<usize>, u32, bool);

/// The words of a file.
pub(super) fn full(
    world: &World,
    params: SemanticTokensParams,
) -> Result<Option<SemanticTokensResult>, Failure> {
    let path = uri::to_path(&params.text_document.uri);
    let Some(text) = world.text(&path) else {
        return Ok(None);
    };
    let mut words: Vec<Word> = Vec::new();
    if is_model(&path) {
        model(world, &path, &mut words);
    } else if let Some(language) = world.language(&path) {
        for name in world.snapshot.names(language, &path) {
            words.push((bytes(name.span), VARIABLE, name.is_definition()));
        }
        functions(language, &path, &text, &mut words);
    } else {
        return Ok(None);
    }
    words.sort_by_key(|(bytes, ..)| bytes.start);
    // Words do not overlap: of two at one place, the first is taken.
    let lines = world.lines(&text);
    let mut data = Vec::new();
    let (mut line, mut column, mut end) = (0, 0, 0);
    for (bytes, kind, declared) in words {
        let range = lines.range(bytes.clone());
        if bytes.start < end || range.start.line != range.end.line || bytes.is_empty() {
            continue;
        }
        end = bytes.end;
        let delta_line = range.start.line - line;
        data.push(SemanticToken {
            delta_line,
            delta_start: match delta_line {
                0 => range.start.character - column,
                _ => range.start.character,
            },
            length: range.end.character - range.start.character,
            token_type: kind,
            token_modifiers_bitset: u32::from(declared),
        });
        (line, column) = (range.start.line, range.start.character);
    }
    Ok(Some(SemanticTokensResult::Tokens(SemanticTokens {
        result_id: None,
        data,
    })))
}

fn model(world: &World, path: &str, words: &mut Vec<Word>) {
    let model = world.snapshot.model(path);
    for name in &model.names {
        let kind = match name.kind {
            NameKind::Sig => CLASS,
            NameKind::Field => PROPERTY,
            NameKind::Var => VARIABLE,
            NameKind::Command => continue,
            _ => FUNCTION,
        };
        if name.declared.file == model.file {
            words.push((bytes(name.declared), kind, true));
        }
        let own = name.uses.iter().filter(|span| span.file == model.file);
        words.extend(own.map(|span| (bytes(*span), kind, false)));
    }
}

fn functions(language: &dyn Language, path: &str, text: &str, words: &mut Vec<Word>) {
    let mut sources = Sources::new();
    let file = sources.add(path, text);
    let parsed = yaml::parse(&sources, file, &yaml::Limits::default());
    let roots = parsed.documents.iter().map(|document| &document.root);
    let mut waiting: Vec<&Node> = roots.collect();
    while let Some(node) = waiting.pop() {
        if node.alias().is_some() {
            continue;
        }
        match &node.kind {
            Kind::Mapping(mapping) => {
                for entry in &mapping.entries {
                    // A function is the only key of its map.
                    let only = mapping.entries.len() == 1;
                    let key = entry.key.as_str().filter(|_| only);
                    if key.is_some_and(|key| language.is_function(key)) {
                        words.push((bytes(entry.key.span), FUNCTION, false));
                    }
                    waiting.push(&entry.value);
                }
            }
            Kind::Sequence(items) => waiting.extend(items),
            Kind::Scalar(_) => {}
        }
    }
}
