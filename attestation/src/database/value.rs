//! What goes into a statement, and what comes out of it.

use std::borrow::Cow;

use super::DatabaseError;

/// A value of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'v> {
    /// Nothing.
    Null,
    /// Yes or no; SQLite answers with a number instead.
    Bool(bool),
    /// A number.
    Integer(i64),
    /// Text.
    Text(Cow<'v, str>),
    /// Bytes.
    Blob(Cow<'v, [u8]>),
}

/// What a statement can be given.
pub trait ToValue {
    /// As a value.
    fn value(&self) -> Value<'_>;
}

impl ToValue for str {
    fn value(&self) -> Value<'_> {
        Value::Text(Cow::Borrowed(self))
    }
}

impl ToValue for String {
    fn value(&self) -> Value<'_> {
        self.as_str().value()
    }
}

impl ToValue for [u8] {
    fn value(&self) -> Value<'_> {
        Value::Blob(Cow::Borrowed(self))
    }
}

impl ToValue for Vec<u8> {
    fn value(&self) -> Value<'_> {
        self.as_slice().value()
    }
}

impl ToValue for i64 {
    fn value(&self) -> Value<'_> {
        Value::Integer(*self)
    }
}

impl ToValue for u32 {
    fn value(&self) -> Value<'_> {
        Value::Integer(i64::from(*self))
    }
}

impl ToValue for bool {
    fn value(&self) -> Value<'_> {
        Value::Bool(*self)
    }
}

impl<T: ToValue> ToValue for Option<T> {
    fn value(&self) -> Value<'_> {
        self.as_ref().map_or(Value::Null, ToValue::value)
    }
}

impl<T: ToValue + ?Sized> ToValue for &T {
    fn value(&self) -> Value<'_> {
        (**self).value()
    }
}

/// The values of a statement, in the order of `?1`, `?2` and so on.
macro_rules! params {
    ($($value:expr),* $(,)?) => {
        &[$($crate::database::ToValue::value(&$value)),*][..]
    };
}
pub(crate) use params;

/// What can be read from a column.
pub trait FromValue: Sized {
    /// What is expected, for whoever finds something else.
    const WANTED: &'static str;

    /// From a value, if it is one.
    fn from_value(value: &Value<'_>) -> Option<Self>;
}

impl FromValue for i64 {
    const WANTED: &'static str = "a number";

    fn from_value(value: &Value<'_>) -> Option<Self> {
        match value {
            Value::Integer(number) => Some(*number),
            _ => None,
        }
    }
}

impl FromValue for bool {
    const WANTED: &'static str = "yes or no";

    fn from_value(value: &Value<'_>) -> Option<Self> {
        match value {
            Value::Bool(yes) => Some(*yes),
            Value::Integer(number) => Some(*number != 0),
            _ => None,
        }
    }
}

impl FromValue for String {
    const WANTED: &'static str = "text";

    fn from_value(value: &Value<'_>) -> Option<Self> {
        match value {
            Value::Text(text) => Some(text.clone().into_owned()),
            _ => None,
        }
    }
}

impl FromValue for Vec<u8> {
    const WANTED: &'static str = "bytes";

    fn from_value(value: &Value<'_>) -> Option<Self> {
        match value {
            Value::Blob(bytes) => Some(bytes.clone().into_owned()),
            _ => None,
        }
    }
}

impl<T: FromValue> FromValue for Option<T> {
    const WANTED: &'static str = T::WANTED;

    fn from_value(value: &Value<'_>) -> Option<Self> {
        match value {
            Value::Null => Some(None),
            other => T::from_value(other).map(Some),
        }
    }
}

/// A row of an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Row(pub(super) Vec<Value<'static>>);

impl Row {
    /// A column, by its place.
    pub fn get<T: FromValue>(&self, column: usize) -> Result<T, DatabaseError> {
        let found = self.0.get(column).and_then(T::from_value);
        found.ok_or(DatabaseError::Column {
            column,
            wanted: T::WANTED,
        })
    }

    /// The bytes of a column, where they are.
    pub fn bytes(&self, column: usize) -> Result<&[u8], DatabaseError> {
        match self.0.get(column) {
            Some(Value::Blob(bytes)) => Ok(bytes),
            _ => Err(DatabaseError::Column {
                column,
                wanted: Vec::<u8>::WANTED,
            }),
        }
    }
}
