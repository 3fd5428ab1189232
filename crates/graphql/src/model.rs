//! The schema as its text says it.

use std::collections::HashMap;

use graphql_parser::schema as sdl;
use indexmap::IndexMap;
use juniper::ArcStr;

use crate::document::{Literal, Type};

/// Types that every schema has.
const BUILT_IN: [&str; 5] = ["Boolean", "Float", "ID", "Int", "String"];

/// Introspection's own types, for the validation of queries that ask for the schema.
const INTROSPECTION: &str = include_str!("introspection.graphql");

/// The schema as its text says it.
pub(crate) struct Model {
    pub(crate) types: IndexMap<ArcStr, TypeModel>,
    pub(crate) mutation: Option<ArcStr>,
    pub(crate) subscription: Option<ArcStr>,
    pub(crate) directives: Vec<DirectiveModel>,
    /// `__schema` and `__type`, which the root has beside its own fields.
    introspection: Vec<FieldModel>,
    type_name: FieldModel,
}

/// The name of the root's type.
pub(crate) const QUERY: &str = "Query";
/// The name of the type of mutations.
pub(crate) const MUTATION: &str = "Mutation";
/// The name of the type of subscriptions.
pub(crate) const SUBSCRIPTION: &str = "Subscription";

pub(crate) struct TypeModel {
    pub(crate) name: ArcStr,
    pub(crate) description: Option<ArcStr>,
    pub(crate) kind: TypeKind,
    /// Of interfaces and unions: the types that their objects may have.
    pub(crate) possible: Vec<ArcStr>,
}

pub(crate) enum TypeKind {
    Scalar,
    Enum(Vec<ValueModel>),
    Object(Members),
    Interface(Members),
    Union,
    Input(Vec<ArgumentModel>),
}

pub(crate) struct Members {
    pub(crate) fields: IndexMap<ArcStr, FieldModel>,
    pub(crate) interfaces: Vec<ArcStr>,
}

pub(crate) struct FieldModel {
    pub(crate) name: ArcStr,
    pub(crate) description: Option<ArcStr>,
    pub(crate) arguments: Vec<ArgumentModel>,
    pub(crate) kind: Type,
    pub(crate) deprecated: Option<ArcStr>,
}

pub(crate) struct ArgumentModel {
    pub(crate) name: ArcStr,
    pub(crate) description: Option<ArcStr>,
    pub(crate) kind: Type,
    pub(crate) default: Option<Literal>,
    pub(crate) deprecated: Option<ArcStr>,
}

impl ArgumentModel {
    pub(crate) fn is_required(&self) -> bool {
        self.kind.is_non_null() && self.default.is_none()
    }
}

pub(crate) struct ValueModel {
    pub(crate) name: ArcStr,
    pub(crate) description: Option<ArcStr>,
    pub(crate) deprecated: Option<ArcStr>,
}

pub(crate) struct DirectiveModel {
    pub(crate) name: ArcStr,
    pub(crate) description: Option<ArcStr>,
    pub(crate) arguments: Vec<ArgumentModel>,
    /// As the language writes them: `FIELD`.
    pub(crate) locations: Vec<String>,
}

impl TypeModel {
    pub(crate) fn members(&self) -> Option<&Members> {
        match &self.kind {
            TypeKind::Object(members) | TypeKind::Interface(members) => Some(members),
            _ => None,
        }
    }

    pub(crate) fn is_composite(&self) -> bool {
        matches!(self.kind, TypeKind::Object(_) | TypeKind::Interface(_) | TypeKind::Union)
    }

    pub(crate) fn is_abstract(&self) -> bool {
        matches!(self.kind, TypeKind::Interface(_) | TypeKind::Union)
    }

    pub(crate) fn is_input(&self) -> bool {
        matches!(self.kind, TypeKind::Scalar | TypeKind::Enum(_) | TypeKind::Input(_))
    }

    /// Whether the language brings the type.
    pub(crate) fn is_built_in(&self) -> bool {
        self.name.starts_with("__") || BUILT_IN.contains(&self.name.as_str())
    }

    /// Whether it is a page of a list.
    pub(crate) fn is_connection(&self) -> bool {
        self.name.ends_with("Connection")
            && self.members().is_some_and(|members| members.fields.contains_key("pageInfo"))
    }
}

impl Model {
    /// Of the texts of a schema; with `without_deprecated`, of what of it is not deprecated.
    ///
    /// # Errors
    /// With all that is wrong with the texts.
    pub(crate) fn read(texts: &[String], without_deprecated: bool) -> Result<Self, Vec<String>> {
        let mut reader = Reader { without_deprecated, ..Reader::default() };
        for name in BUILT_IN {
            reader.add(name.into(), None, TypeKind::Scalar, Vec::new());
        }
        for text in texts.iter().map(String::as_str).chain([INTROSPECTION]) {
            match graphql_parser::parse_schema::<String>(text) {
                Ok(document) => reader.take(&document),
                Err(cause) => reader.mistakes.push(cause.to_string()),
            }
        }
        reader.finish()
    }

    pub(crate) fn find(&self, name: &str) -> Option<&TypeModel> {
        self.types.get(name)
    }

    /// A field of a type, with those that the language gives to types.
    pub(crate) fn field<'a>(&'a self, on: &'a TypeModel, name: &str) -> Option<&'a FieldModel> {
        if name == "__typename" && on.is_composite() {
            return Some(&self.type_name);
        }
        if on.name == QUERY {
            let own = self.introspection.iter().find(|field| field.name == name);
            if own.is_some() {
                return own;
            }
        }
        on.members()?.fields.get(name)
    }

    /// Whether objects of one type are always such of the other.
    pub(crate) fn is_kind_of(&self, one: &TypeModel, other: &TypeModel) -> bool {
        one.name == other.name
            || (other.is_abstract() && other.possible.contains(&one.name))
            || one.members().is_some_and(|members| members.interfaces.contains(&other.name))
    }

    /// Whether there may be objects of both types.
    pub(crate) fn overlaps(&self, one: &TypeModel, other: &TypeModel) -> bool {
        let possible = |of: &TypeModel| match of.is_abstract() {
            true => of.possible.clone(),
            false => vec![of.name.clone()],
        };
        let others = possible(other);
        possible(one).iter().any(|name| others.contains(name))
    }
}

/// Gathers what the texts say.
#[derive(Default)]
struct Reader {
    types: IndexMap<ArcStr, TypeModel>,
    directives: Vec<DirectiveModel>,
    extensions: Vec<(String, Vec<FieldModel>, Vec<ArcStr>)>,
    unions: Vec<(String, Vec<String>)>,
    values: Vec<(String, Vec<ValueModel>)>,
    inputs: Vec<(String, Vec<ArgumentModel>)>,
    without_deprecated: bool,
    mistakes: Vec<String>,
}

impl Reader {
    #[expect(clippy::needless_pass_by_value, reason = "callers hand over what they need no more")]
    fn add(
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

    fn take(&mut self, document: &sdl::Document<'_, String>) {
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

    fn members(&mut self, fields: &[sdl::Field<'_, String>], interfaces: &[String]) -> Members {
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

    fn finish(mut self) -> Result<Model, Vec<String>> {
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
