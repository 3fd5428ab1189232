//! A schema in the schema definition language: all types by their names.

use std::fmt::Write as _;

use juniper::ArcStr;

use crate::model::{ArgumentModel, FieldModel, Members, Model, TypeKind, TypeModel};

/// Writes a schema.
pub(crate) fn print(model: &Model) -> String {
    let mut text = String::from("schema {\n  query: Query\n  mutation: Mutation\n");
    if let Some(name) = &model.subscription {
        let _ = writeln!(text, "  subscription: {name}");
    }
    text.push_str("}\n");
    let mut directives: Vec<_> = model.directives.iter().collect();
    directives.sort_by_key(|directive| directive.name.clone());
    for directive in directives {
        // The language brings the others.
        if matches!(directive.name.as_str(), "include" | "skip" | "deprecated") {
            continue;
        }
        text.push('\n');
        describe(&mut text, directive.description.as_ref(), "");
        let _ = write!(text, "directive @{}", directive.name);
        arguments(&mut text, &directive.arguments, "");
        let _ = writeln!(text, " on {}", directive.locations.join(" | "));
    }
    let mut types: Vec<_> = model.types.values().filter(|kind| !kind.is_built_in()).collect();
    types.sort_by_key(|kind| kind.name.clone());
    for kind in types {
        text.push('\n');
        describe(&mut text, kind.description.as_ref(), "");
        print_type(&mut text, kind);
    }
    text
}

fn print_type(text: &mut String, kind: &TypeModel) {
    let name = &kind.name;
    match &kind.kind {
        TypeKind::Scalar => {
            let _ = writeln!(text, "scalar {name}");
        }
        TypeKind::Union => {
            let _ = writeln!(text, "union {name} = {}", joined(&kind.possible, " | "));
        }
        TypeKind::Object(members) => {
            let _ = write!(text, "type {name}");
            print_members(text, members);
        }
        TypeKind::Interface(members) => {
            let _ = write!(text, "interface {name}");
            print_members(text, members);
        }
        TypeKind::Enum(values) => {
            let _ = writeln!(text, "enum {name} {{");
            for value in values {
                describe(text, value.description.as_ref(), "  ");
                let _ = write!(text, "  {}", value.name);
                deprecate(text, value.deprecated.as_ref());
                text.push('\n');
            }
            text.push_str("}\n");
        }
        TypeKind::Input(fields) => {
            let _ = writeln!(text, "input {name} {{");
            for field in fields {
                argument(text, field, "  ");
            }
            text.push_str("}\n");
        }
    }
}

fn print_members(text: &mut String, members: &Members) {
    if !members.interfaces.is_empty() {
        let _ = write!(text, " implements {}", joined(&members.interfaces, " & "));
    }
    text.push_str(" {\n");
    let mut fields: Vec<&FieldModel> = members.fields.values().collect();
    fields.sort_by_key(|field| field.name.clone());
    for field in fields {
        describe(text, field.description.as_ref(), "  ");
        let _ = write!(text, "  {}", field.name);
        arguments(text, &field.arguments, "  ");
        let _ = write!(text, ": {}", field.kind);
        deprecate(text, field.deprecated.as_ref());
        text.push('\n');
    }
    text.push_str("}\n");
}

fn arguments(text: &mut String, arguments: &[ArgumentModel], indentation: &str) {
    if arguments.is_empty() {
        return;
    }
    text.push_str("(\n");
    for one in arguments {
        argument(text, one, &format!("{indentation}  "));
    }
    let _ = write!(text, "{indentation})");
}

fn argument(text: &mut String, argument: &ArgumentModel, indentation: &str) {
    describe(text, argument.description.as_ref(), indentation);
    let _ = write!(text, "{indentation}{}: {}", argument.name, argument.kind);
    if let Some(default) = &argument.default {
        let _ = write!(text, " = {default}");
    }
    deprecate(text, argument.deprecated.as_ref());
    text.push('\n');
}

fn describe(text: &mut String, description: Option<&ArcStr>, indentation: &str) {
    let Some(description) = description else { return };
    let _ = writeln!(text, "{indentation}\"\"\"");
    for line in description.lines() {
        let line = line.trim();
        let line = line.replace("\"\"\"", "\\\"\"\"");
        let _ = writeln!(text, "{}", format!("{indentation}{line}").trim_end());
    }
    let _ = writeln!(text, "{indentation}\"\"\"");
}

fn deprecate(text: &mut String, reason: Option<&ArcStr>) {
    if let Some(reason) = reason {
        let reason = serde_json::Value::from(reason.as_str());
        let _ = write!(text, " @deprecated(reason: {reason})");
    }
}

fn joined(names: &[ArcStr], sign: &str) -> String {
    names.iter().map(ArcStr::as_str).collect::<Vec<_>>().join(sign)
}
