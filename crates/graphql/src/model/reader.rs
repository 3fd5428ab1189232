//! Gathers what the texts of a schema say into its model.

use std::collections::HashMap;

use graphql_parser::schema as sdl;
use indexmap::IndexMap;
use juniper::ArcStr;

use super::{
    ArgumentModel, DirectiveModel, FieldModel, MUTATION, Members, Model, QUERY, SUBSCRIPTION,
    TypeKind, TypeModel, ValueModel,
};
use crate::document::{Literal, Type};

/// Gathers what the texts say.
#[derive(Default)]
pub(super) struct Reader {
    pub(super) types: IndexMap<ArcStr, TypeModel>,
    pub(super) directives: Vec<DirectiveModel>,
    pub(super) extensions: Vec<(String, Vec<FieldModel>, Vec<ArcStr>)>,
    pub(super) unions: Vec<(String, Vec<String>)>,
    pub(super) values: Vec<(String, Vec<ValueModel>)>,
    pub(super) inputs: Vec<(String, Vec<ArgumentModel>)>,
    pub(super) without_deprecated: bool,
    pub(super) mistakes: Vec<String>,
}

impl Reader {
    #[expect(clippy::needless_pass_by_value, reason = "callers hand over what they need no more")]
    pub(super) fn add(
        &mut self,
        name: ArcStr,
        description: Option<&String>,
        kind: TypeKind,
        possible: Vec<ArcStr>,
    ) {
        let description = description.map(|text| text.trim().into());
        let added = TypeModel { name: name.clone(), description, kind, possible };
        if self.types.insert(name.clone(), added).is_some() {
            self.mistakes.push(format!("{name} is defined twice"));
        }
    }

    pub(super) fn take(&mut self, document: &sdl::Document<'_, String>) {
        for definition in &document.definitions {
            match definition {
                sdl::Definition::SchemaDefinition(_) => {}
                sdl::Definition::TypeDefinition(definition) => self.define(definition),
                sdl::Definition::TypeExtension(extension) => self.extend(extension),
                sdl::Definition::DirectiveDefinition(definition) => {
                    let locations = definition.locations.iter();
                    self.directives.push(DirectiveModel {
                        name: definition.name.as_str().into(),
                        description: text(definition.description.as_ref()),
                        arguments: self.arguments(&definition.arguments),
                        locations: locations.map(|place| place.as_str().to_owned()).collect(),
                    });
                }
            }
        }
    }

    fn define(&mut self, definition: &sdl::TypeDefinition<'_, String>) {
        use sdl::TypeDefinition as Is;
        let (name, description, kind, possible) = match definition {
            Is::Scalar(it) => (&it.name, &it.description, TypeKind::Scalar, Vec::new()),
            Is::Object(it) => {
                let members = self.members(&it.fields, &it.implements_interfaces);
                (&it.name, &it.description, TypeKind::Object(members), Vec::new())
            }
            Is::Interface(it) => {
                let members = self.members(&it.fields, &it.implements_interfaces);
                (&it.name, &it.description, TypeKind::Interface(members), Vec::new())
            }
            Is::Union(it) => {
                let possible = it.types.iter().map(|name| name.as_str().into()).collect();
                (&it.name, &it.description, TypeKind::Union, possible)
            }
            Is::Enum(it) => {
                let values = self.values(&it.values);
                (&it.name, &it.description, TypeKind::Enum(values), Vec::new())
            }
            Is::InputObject(it) => {
                let fields = self.arguments(&it.fields);
                (&it.name, &it.description, TypeKind::Input(fields), Vec::new())
            }
        };
        self.add(name.as_str().into(), description.as_ref(), kind, possible);
    }

    fn extend(&mut self, extension: &sdl::TypeExtension<'_, String>) {
        use sdl::TypeExtension as Is;
        match extension {
            Is::Scalar(_) => {}
            Is::Object(it) => {
                let members = self.members(&it.fields, &it.implements_interfaces);
                let fields = members.fields.into_values().collect();
                self.extensions.push((it.name.clone(), fields, members.interfaces));
            }
            Is::Interface(it) => {
                let members = self.members(&it.fields, &it.implements_interfaces);
                let fields = members.fields.into_values().collect();
                self.extensions.push((it.name.clone(), fields, members.interfaces));
            }
            Is::Union(it) => self.unions.push((it.name.clone(), it.types.clone())),
            Is::Enum(it) => {
                let values = self.values(&it.values);
                self.values.push((it.name.clone(), values));
            }
            Is::InputObject(it) => {
                let fields = self.arguments(&it.fields);
                self.inputs.push((it.name.clone(), fields));
            }
        }
    }

    pub(super) fn members(
        &mut self,
        fields: &[sdl::Field<'_, String>],
        interfaces: &[String],
    ) -> Members {
        let mut found = IndexMap::new();
        for field in fields {
            let deprecated = deprecation(&field.directives);
            if self.without_deprecated && deprecated.is_some() {
                continue;
            }
            let name = ArcStr::from(field.name.as_str());
            let model = FieldModel {
                name: name.clone(),
                description: text(field.description.as_ref()),
                arguments: self.arguments(&field.arguments),
                kind: kind(&field.field_type),
                deprecated,
            };
            if found.insert(name, model).is_some() {
                self.mistakes.push(format!("the field {} is defined twice", field.name));
            }
        }
        let interfaces = interfaces.iter().map(|name| name.as_str().into()).collect();
        Members { fields: found, interfaces }
    }

    fn arguments(&self, arguments: &[sdl::InputValue<'_, String>]) -> Vec<ArgumentModel> {
        let arguments = arguments.iter().map(|argument| ArgumentModel {
            name: argument.name.as_str().into(),
            description: text(argument.description.as_ref()),
            kind: kind(&argument.value_type),
            default: argument.default_value.as_ref().map(literal),
            deprecated: deprecation(&argument.directives),
        });
        arguments
            .filter(|argument| !(self.without_deprecated && argument.deprecated.is_some()))
            .collect()
    }

    fn values(&self, values: &[sdl::EnumValue<'_, String>]) -> Vec<ValueModel> {
        let values = values.iter().map(|value| ValueModel {
            name: value.name.as_str().into(),
            description: text(value.description.as_ref()),
            deprecated: deprecation(&value.directives),
        });
        values.filter(|value| !(self.without_deprecated && value.deprecated.is_some())).collect()
    }

    pub(super) fn finish(mut self) -> Result<Model, Vec<String>> {
        self.apply_extensions();
        self.note_implementations();
        self.check_names();
        let type_name = FieldModel {
            name: "__typename".into(),
            description: None,
            arguments: Vec::new(),
            kind: Type::NonNull(Box::new(Type::Named("String".to_owned()))),
            deprecated: None,
        };
        let roots = self.types.shift_remove("__Root").map(|root| root.kind);
        let introspection = match roots {
            Some(TypeKind::Object(members)) => members.fields.into_values().collect(),
            _ => Vec::new(),
        };
        if !self.types.contains_key(QUERY) {
            self.mistakes.push(format!("there is no type {QUERY}"));
        }
        match self.mistakes.is_empty() {
            true => Ok(Model {
                mutation: self.types.get(MUTATION).map(|kind| kind.name.clone()),
                subscription: self.types.get(SUBSCRIPTION).map(|kind| kind.name.clone()),
                types: self.types,
                directives: self.directives,
                introspection,
                type_name,
                without_deprecated: self.without_deprecated,
            }),
            false => Err(self.mistakes),
        }
    }

    fn apply_extensions(&mut self) {
        for (name, fields, interfaces) in std::mem::take(&mut self.extensions) {
            let Some(TypeKind::Object(members) | TypeKind::Interface(members)) =
                self.types.get_mut(name.as_str()).map(|found| &mut found.kind)
            else {
                self.mistakes.push(format!("{name} is extended, but not defined"));
                continue;
            };
            members.interfaces.extend(interfaces);
            for field in fields {
                if members.fields.contains_key(&field.name) {
                    self.mistakes.push(format!("{name}.{} is defined twice", field.name));
                }
                members.fields.insert(field.name.clone(), field);
            }
        }
        for (name, types) in std::mem::take(&mut self.unions) {
            match self.types.get_mut(name.as_str()) {
                Some(TypeModel { kind: TypeKind::Union, possible, .. }) => {
                    possible.extend(types.iter().map(|name| ArcStr::from(name.as_str())));
                }
                _ => self.mistakes.push(format!("{name} is extended, but is no union")),
            }
        }
        for (name, more) in std::mem::take(&mut self.values) {
            match self.types.get_mut(name.as_str()).map(|found| &mut found.kind) {
                Some(TypeKind::Enum(values)) => values.extend(more),
                _ => self.mistakes.push(format!("{name} is extended, but is no enum")),
            }
        }
        for (name, more) in std::mem::take(&mut self.inputs) {
            match self.types.get_mut(name.as_str()).map(|found| &mut found.kind) {
                Some(TypeKind::Input(fields)) => fields.extend(more),
                _ => self.mistakes.push(format!("{name} is extended, but is no input")),
            }
        }
    }

    /// Tells interfaces which objects implement them.
    fn note_implementations(&mut self) {
        let mut implementing: HashMap<ArcStr, Vec<ArcStr>> = HashMap::new();
        for found in self.types.values() {
            if let TypeKind::Object(members) = &found.kind {
                for interface in &members.interfaces {
                    implementing.entry(interface.clone()).or_default().push(found.name.clone());
                }
            }
        }
        for (interface, objects) in implementing {
            match self.types.get_mut(&interface) {
                Some(TypeModel { kind: TypeKind::Interface(_), possible, .. }) => {
                    *possible = objects;
                }
                _ => self.mistakes.push(format!("{interface} is no interface")),
            }
        }
    }

    /// Notes names that stand for no type, and interfaces that are not implemented as a whole.
    fn check_names(&mut self) {
        let mut mistakes = Vec::new();
        let mut known = |kind: &Type, place: String, input: bool| match self.types.get(kind.name())
        {
            None => mistakes.push(format!("{place}: there is no type {}", kind.name())),
            Some(found) if input && !found.is_input() => {
                mistakes.push(format!("{place}: {} is no type for arguments", found.name));
            }
            Some(found) if !input && matches!(found.kind, TypeKind::Input(_)) => {
                mistakes.push(format!("{place}: {} is a type for arguments only", found.name));
            }
            Some(_) => {}
        };
        for found in self.types.values() {
            match &found.kind {
                TypeKind::Object(members) | TypeKind::Interface(members) => {
                    for field in members.fields.values() {
                        let place = format!("{}.{}", found.name, field.name);
                        field.arguments.iter().for_each(|argument| {
                            known(&argument.kind, format!("{place}({})", argument.name), true);
                        });
                        known(&field.kind, place, false);
                    }
                }
                TypeKind::Input(fields) => fields.iter().for_each(|field| {
                    known(&field.kind, format!("{}.{}", found.name, field.name), true);
                }),
                _ => {}
            }
        }
        for found in self.types.values() {
            let TypeKind::Object(members) = &found.kind else { continue };
            for name in &members.interfaces {
                let interface = self.types.get(name).and_then(TypeModel::members);
                for field in interface.into_iter().flat_map(|interface| interface.fields.keys()) {
                    if !members.fields.contains_key(field) {
                        mistakes.push(format!("{} has no {field}, as {name} wants", found.name));
                    }
                }
            }
        }
        self.mistakes.extend(mistakes);
    }
}

fn text(description: Option<&String>) -> Option<ArcStr> {
    description.map(|text| text.trim().into())
}

fn deprecation(directives: &[sdl::Directive<'_, String>]) -> Option<ArcStr> {
    let found = directives.iter().find(|directive| directive.name == "deprecated")?;
    let reason = found.arguments.iter().find(|(name, _)| name == "reason");
    Some(match reason {
        Some((_, sdl::Value::String(text))) => text.as_str().into(),
        _ => "No longer supported".into(),
    })
}

fn kind(written: &sdl::Type<'_, String>) -> Type {
    match written {
        sdl::Type::NamedType(name) => Type::Named(name.clone()),
        sdl::Type::ListType(inner) => Type::List(Box::new(kind(inner))),
        sdl::Type::NonNullType(inner) => Type::NonNull(Box::new(kind(inner))),
    }
}

fn literal(value: &sdl::Value<'_, String>) -> Literal {
    match value {
        sdl::Value::Variable(name) => Literal::Variable(name.clone()),
        sdl::Value::Int(number) => {
            Literal::Int(number.as_i64().map_or_else(String::new, |number| number.to_string()))
        }
        sdl::Value::Float(number) => Literal::Float(number.to_string()),
        sdl::Value::String(text) => Literal::Text(text.clone()),
        sdl::Value::Boolean(flag) => Literal::Bool(*flag),
        sdl::Value::Null => Literal::Null,
        sdl::Value::Enum(name) => Literal::Enum(name.clone()),
        sdl::Value::List(elements) => Literal::List(elements.iter().map(literal).collect()),
        sdl::Value::Object(fields) => {
            let fields = fields.iter().map(|(name, value)| (name.clone(), literal(value)));
            Literal::Object(fields.collect())
        }
    }
}
