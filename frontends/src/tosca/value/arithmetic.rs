//! Arithmetic of 2.0 (10.2.5): whole numbers, decimals and numbers with units, computed exactly.

use std::rc::Rc;

use locus_core::int::Int;

use super::Val;
use super::exact::Exact;
use super::scalar::Units;

/// A number, and what it measures.
struct Operand {
    number: Exact,
    is_whole: bool,
    units: Option<Rc<Units>>,
}

/// What an arithmetic function gives; none when that is not known.
pub(super) fn arithmetic(name: &str, arguments: &[Val]) -> Option<Val> {
    let units = arguments.iter().find_map(|argument| match argument {
        Val::Scalar(_, units, _) => Some(units),
        _ => None,
    });
    let operands: Vec<Operand> = arguments
        .iter()
        .map(|argument| operand(argument, units))
        .collect::<Option<_>>()?;
    let measured = |operand: &Operand| operand.units.is_some();
    let all_whole = operands.iter().all(|operand| operand.is_whole);
    let alike = operands.iter().all(measured) || !operands.iter().any(measured);
    match (name, operands.as_slice()) {
        ("sum", [first, rest @ ..]) if alike => {
            let mut rest = rest.iter();
            let sum = rest.try_fold(first.number, |sum, next| sum.plus(next.number))?;
            value(sum, units, all_whole)
        }
        ("difference", [a, b]) if alike => value(a.number.minus(b.number)?, units, all_whole),
        ("product", [first, rest @ ..]) if !rest.iter().any(measured) => {
            let mut rest = rest.iter();
            let product =
                rest.try_fold(first.number, |product, next| product.times(next.number))?;
            value(product, units, all_whole)
        }
        ("quotient", [a, b]) if !measured(b) => match units {
            Some(_) => value(a.number.over(b.number)?, units, false),
            None => {
                let divisor = b.number.float();
                (divisor != 0.0).then(|| match a.number.over(b.number) {
                    Some(exact) => Val::Float(exact.float()),
                    None => Val::Float(a.number.float() / divisor),
                })
            }
        },
        ("remainder", [a, b]) if all_whole => {
            let (a, b) = (a.number.to_whole()?, b.number.to_whole()?);
            whole(a.checked_rem(b)?)
        }
        ("round" | "floor" | "ceil", [a]) if units.is_none() => {
            let floor = a.number.floor()?;
            let rest = a.number.minus(Exact::whole(floor))?;
            // What is as far from both is rounded down (10.2.5.6).
            let up = match name {
                "floor" => false,
                "ceil" => rest.is_positive(),
                _ => rest.compare(Exact::parse("0.5")?).is_gt(),
            };
            whole(if up { floor.checked_add(1)? } else { floor })
        }
        _ => None,
    }
}

fn operand(argument: &Val, units: Option<&Rc<Units>>) -> Option<Operand> {
    let plain = |text: String, is_whole: bool| {
        Some(Operand {
            number: Exact::parse(&text)?,
            is_whole,
            units: None,
        })
    };
    match (argument, units) {
        (Val::Int(int), _) => plain(int.to_string(), true),
        (Val::Float(float), _) => plain(float.to_string(), false),
        (Val::Scalar(number, own, _), Some(units)) if own.fits(units) => Some(Operand {
            number: *number,
            is_whole: false,
            units: Some(own.clone()),
        }),
        (Val::Str(text), Some(units)) => Some(Operand {
            number: units.read(text).ok()?,
            is_whole: false,
            units: Some(units.clone()),
        }),
        _ => None,
    }
}

fn value(number: Exact, units: Option<&Rc<Units>>, all_whole: bool) -> Option<Val> {
    match units {
        Some(units) => {
            let text = match units.base() {
                Some(unit) => format!("{number} {unit}"),
                None => number.to_string(),
            };
            Some(Val::Scalar(number, units.clone(), text.into()))
        }
        None if all_whole => whole(number.to_whole()?),
        None => Some(Val::Float(number.float())),
    }
}

fn whole(number: i128) -> Option<Val> {
    Int::parse(&number.to_string(), 10).map(Val::Int)
}
