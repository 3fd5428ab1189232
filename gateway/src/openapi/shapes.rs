//! Schemas as derives write them, made true and put so that client generators understand them.
//!
//! - Derives say `oneOf` of the variants of an enum. A record in its long form is one in its short form, too, so that
//!   `oneOf` would refuse it: it becomes `anyOf`, with the longest form first for clients that take the first that fits.
//! - A flattened field that may be missing, or is an enum, is described as alternatives inside of `allOf`. It becomes
//!   the fields of all alternatives, of which those are required that every alternative has.

use std::{cmp::Reverse, collections::BTreeMap};

use serde_json::{Map, Value, json};

use super::schemas::Schemas;

type NamedSchemas = BTreeMap<String, Value>;

/// Rewrites the schemas of the operations, and those that they refer to.
pub(super) fn rewrite(paths: &mut Value, schemas: &mut Schemas) {
    let named = schemas.by_name.clone();
    for schema in schemas.by_name.values_mut().chain([paths]) {
        *schema = rewritten(std::mem::take(schema), &named);
    }
}

fn rewritten(schema: Value, named: &NamedSchemas) -> Value {
    match schema {
        Value::Array(list) => list.into_iter().map(|value| rewritten(value, named)).collect(),
        Value::Object(map) => map
            .into_iter()
            .map(|(key, value)| match (key.as_str(), value) {
                ("oneOf", Value::Array(forms)) => ("anyOf".to_owned(), any_of(forms, named)),
                ("allOf", Value::Array(parts)) => (key, all_of(parts, named)),
                (_, value) => (key, rewritten(value, named)),
            })
            .collect::<Map<_, _>>()
            .into(),
        plain => plain,
    }
}

fn any_of(mut forms: Vec<Value>, named: &NamedSchemas) -> Value {
    forms.sort_by_key(|form| Reverse(Fields::of(form, named).required.len()));
    rewritten(forms.into(), named)
}

fn all_of(parts: Vec<Value>, named: &NamedSchemas) -> Value {
    let parts = parts.into_iter().map(|part| match forms(resolved(&part, named)) {
        Some(_) => Fields::of(&part, named).into_schema(),
        None => part,
    });
    rewritten(parts.collect(), named)
}

/// The fields of a record, whichever of its forms it has.
#[derive(Default)]
struct Fields {
    properties: Map<String, Value>,
    /// Those that it has in each form.
    required: Vec<String>,
}

impl Fields {
    fn of(schema: &Value, named: &NamedSchemas) -> Self {
        let schema = resolved(schema, named);
        let mut fields = Self::default();
        if let Some(own) = schema["properties"].as_object() {
            fields.properties.extend(own.clone());
        }
        let required = schema["required"].as_array().into_iter().flatten();
        fields.required.extend(required.filter_map(Value::as_str).map(str::to_owned));
        for part in schema["allOf"].as_array().into_iter().flatten() {
            let part = Self::of(part, named);
            fields.properties.extend(part.properties);
            fields.required.extend(part.required);
        }
        if let Some(forms) = forms(schema) {
            fields.add_forms(forms.iter().map(|form| Self::of(form, named)).collect());
        }
        fields
    }

    fn add_forms(&mut self, forms: Vec<Self>) {
        if let Some((first, others)) = forms.split_first() {
            let always = first
                .required
                .iter()
                .filter(|name| others.iter().all(|other| other.required.contains(name)));
            self.required.extend(always.cloned());
        }
        for form in forms {
            for (name, schema) in form.properties {
                self.properties.entry(name).or_insert(schema);
            }
        }
    }

    fn into_schema(self) -> Value {
        let mut schema = json!({ "type": "object", "properties": self.properties });
        if !self.required.is_empty() {
            schema["required"] = json!(self.required);
        }
        schema
    }
}

fn forms(schema: &Value) -> Option<&Vec<Value>> {
    schema.get("oneOf")?.as_array()
}

/// The schema itself, or the one that it refers to.
fn resolved<'a>(schema: &'a Value, named: &'a NamedSchemas) -> &'a Value {
    let name = schema["$ref"].as_str().and_then(|reference| reference.rsplit('/').next());
    name.and_then(|name| named.get(name)).unwrap_or(schema)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named() -> NamedSchemas {
        let short = json!({ "type": "object", "properties": { "id": {} }, "required": ["id"] });
        let long = json!({ "allOf": [
            { "$ref": "#/components/schemas/Short" },
            { "type": "object", "properties": { "name": {} }, "required": ["name"] },
        ] });
        NamedSchemas::from([("Short".to_owned(), short), ("Long".to_owned(), long)])
    }

    #[test]
    fn a_record_may_fit_several_forms_and_the_longest_is_first() {
        let (short, long) = (
            json!({ "$ref": "#/components/schemas/Short" }),
            json!({ "$ref": "#/components/schemas/Long" }),
        );

        let form = rewritten(json!({ "oneOf": [short, { "type": "null" }, long] }), &named());

        assert_eq!(form, json!({ "anyOf": [long, short, { "type": "null" }] }));
    }

    #[test]
    fn a_flattened_field_that_may_be_missing_requires_nothing() {
        let long =
            json!({ "oneOf": [{ "$ref": "#/components/schemas/Long" }, { "type": "null" }] });
        let own = json!({ "type": "object", "properties": { "path": {} }, "required": ["path"] });

        let record = rewritten(json!({ "allOf": [long, own] }), &named());

        let flattened = json!({ "type": "object", "properties": { "id": {}, "name": {} } });
        assert_eq!(record, json!({ "allOf": [flattened, own] }));
    }

    #[test]
    fn fields_of_a_flattened_enum_are_required_where_each_variant_has_them() {
        let forms = json!({ "oneOf": [
            { "$ref": "#/components/schemas/Long" },
            { "$ref": "#/components/schemas/Short" },
        ] });

        let record = rewritten(json!({ "allOf": [forms] }), &named());

        assert_eq!(record["allOf"][0]["required"], json!(["id"]));
        assert!(record["allOf"][0]["properties"]["name"].is_object());
    }
}
