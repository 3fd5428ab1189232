//! The document that juniper gets: one field a line.

use std::{fmt::Write as _, sync::Arc};

use crate::{
    document::{Literal, OperationKind, Position, Type},
    input::Input,
    model::{Model, TypeKind},
    plan::{Plan, PlannedField},
    selection::Selection,
};

/// Stands where nothing is selected: braces must not be empty.
const NOTHING: &str = "__typename @skip(if: true)";

/// What belongs to a line of the document.
pub(crate) struct Line {
    /// Where the field stands in the client's document.
    pub(crate) at: Position,
    pub(crate) arguments: Arc<Vec<(String, Input)>>,
    pub(crate) selection: Arc<Selection>,
}

/// A document, with what belongs to its lines.
pub(crate) struct SchemaText {
    pub(crate) text: String,
    /// Nothing for lines that hold no field.
    pub(crate) lines: Vec<Option<Line>>,
}

/// Writes the document of a plan.
pub(crate) fn write(model: &Model, kind: OperationKind, plan: &Plan) -> SchemaText {
    let mut written = SchemaText { text: format!("{} {{\n", kind.word()), lines: vec![None] };
    written.plan(model, plan);
    written.text.push('}');
    written
}

impl SchemaText {
    fn plan(&mut self, model: &Model, plan: &Plan) {
        for field in &plan.fields {
            self.field(model, field);
        }
        for (narrow, plan) in &plan.narrower {
            self.line(None, &format!("... on {narrow} {{"));
            if plan.fields.is_empty() && plan.narrower.is_empty() {
                self.line(None, NOTHING);
            }
            self.plan(model, plan);
            self.line(None, "}");
        }
    }

    fn line(&mut self, line: Option<Line>, text: &str) {
        self.lines.push(line);
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn field(&mut self, model: &Model, field: &PlannedField) {
        let line = Line {
            at: field.at,
            arguments: field.arguments.clone(),
            selection: Arc::new(field.below.names()),
        };
        let mut text = format!("{}: {}", field.key, field.name);
        let arguments = arguments(model, field);
        if !arguments.is_empty() {
            let _ = write!(text, "({})", arguments.join(", "));
        }
        let is_composite =
            model.find(field.kind.name()).is_some_and(super::model::TypeModel::is_composite);
        if !is_composite {
            return self.line(Some(line), &text);
        }
        text.push_str(" {");
        self.line(Some(line), &text);
        if field.below.fields.is_empty() && field.below.narrower.is_empty() {
            self.line(None, NOTHING);
        }
        self.plan(model, &field.below);
        self.line(None, "}");
    }
}

/// The arguments that juniper must see: of introspection, which it answers, all; else placeholders for required ones.
fn arguments(model: &Model, field: &PlannedField) -> Vec<String> {
    if field.on.starts_with("__") || field.is_introspection() {
        let given = field.arguments.iter().filter_map(|(name, value)| match value {
            Input::Bool(flag) => Some(format!("{name}: {flag}")),
            Input::Text(text) => Some(format!("{name}: {}", Literal::Text(text.clone()))),
            _ => None,
        });
        return given.collect();
    }
    let on = model.find(&field.on).and_then(|on| model.field(on, &field.name));
    let required = on.into_iter().flat_map(|field| &field.arguments);
    let required = required.filter(|argument| argument.is_required());
    required
        .map(|argument| format!("{}: {}", argument.name, placeholder(model, &argument.kind)))
        .collect()
}

/// The least value of a type.
fn placeholder(model: &Model, kind: &Type) -> Literal {
    let name = match kind.nullable() {
        Type::Named(name) => name,
        _ => return Literal::List(Vec::new()),
    };
    match (name.as_str(), model.find(name).map(|found| &found.kind)) {
        ("Int" | "Float", _) => Literal::Int("0".to_owned()),
        ("Boolean", _) => Literal::Bool(false),
        (_, Some(TypeKind::Enum(values))) => {
            values.first().map_or(Literal::Null, |value| Literal::Enum(value.name.to_string()))
        }
        (_, Some(TypeKind::Input(fields))) => {
            let required = fields.iter().filter(|field| field.is_required());
            let required =
                required.map(|field| (field.name.to_string(), placeholder(model, &field.kind)));
            Literal::Object(required.collect())
        }
        _ => Literal::Text(String::new()),
    }
}
