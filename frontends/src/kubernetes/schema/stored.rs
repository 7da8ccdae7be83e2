//! The schema as it comes with the program.

use std::sync::LazyLock;

use super::types::Schema;

static STORED: &[u8] = include_bytes!("../../../data/kubernetes.postcard");

static SCHEMA: LazyLock<Schema> =
    LazyLock::new(|| postcard::from_bytes(STORED).unwrap_or_default());

/// The schema. A test compares what is stored with what compiling gives now.
pub(crate) fn schema() -> &'static Schema {
    &SCHEMA
}

/// The definition of what all objects have under `metadata`.
pub(crate) fn metadata() -> Option<u16> {
    static AT: LazyLock<Option<u16>> = LazyLock::new(|| {
        let mut all = SCHEMA.definitions.iter();
        let at = all.position(|known| known.name == "ObjectMeta")?;
        u16::try_from(at).ok()
    });
    *AT
}

/// A compiled schema as it should be stored.
pub fn to_store(schema: &Schema) -> Option<Vec<u8>> {
    postcard::to_stdvec(schema).ok()
}

#[cfg(test)]
mod tests {
    use super::super::compile;
    use super::super::types::Shape;
    use super::*;

    static TYPES: &str = include_str!("../../../data/kubernetes-types.json");
    static ENUMS: &str = include_str!("../../../data/kubernetes-enums.json");

    #[test]
    fn the_stored_schema_is_current() {
        let compiled = compile(TYPES, ENUMS).unwrap();
        assert!(
            to_store(&compiled).is_some_and(|bytes| bytes == STORED),
            "run `cargo xtask kubernetes-schema`"
        );
        assert_eq!(schema(), &compiled);
    }

    #[test]
    fn the_words_of_all_fields_are_found() {
        let enums: serde_json::Value = serde_json::from_str(ENUMS).unwrap();
        let types = enums.as_object().unwrap().values();
        let stated: usize = types.map(|fields| fields.as_object().unwrap().len()).sum();
        let fields = schema().definitions.iter().flat_map(|known| &known.fields);
        let worded = fields.filter(|field| match &field.shape {
            Shape::Word(_) => field.name != "apiVersion" && field.name != "kind",
            Shape::List(items) => matches!(**items, Shape::Word(_)),
            _ => false,
        });
        assert!(worded.count() >= stated - 1, "all but `kind` of a disk");
    }

    #[test]
    fn kinds_are_found_by_their_names() {
        let deployment = schema().kind("apps/v1", "Deployment").unwrap();
        let definition = schema().definition(deployment.definition.unwrap()).unwrap();
        assert!(definition.field("spec").is_some());
        assert!(schema().kind("apps/v1", "Deploymnt").is_none());
        assert!(schema().kinds_of("v1").count() > 15);
        let old = schema()
            .kind("autoscaling/v2beta2", "HorizontalPodAutoscaler")
            .unwrap();
        assert_eq!((old.last, old.definition), (25, None));
    }
}
