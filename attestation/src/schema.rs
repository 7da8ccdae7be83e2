//! JSON schemas of what is a text of a certain form in JSON.

/// The schema of a type whose JSON is a text: which texts it takes, and what they mean.
macro_rules! text_schema {
    ($type:ident, $pattern:literal, $words:literal $(, $key:literal: $value:literal)*) => {
        impl schemars::JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }

            fn schema_id() -> std::borrow::Cow<'static, str> {
                concat!(module_path!(), "::", stringify!($type)).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({
                    "type": "string",
                    "description": $words,
                    "pattern": $pattern
                    $(, $key: $value)*
                })
            }
        }
    };
}
pub(crate) use text_schema;
