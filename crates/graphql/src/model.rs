//! The schema as its text says it.

mod reader;

use indexmap::IndexMap;
use juniper::ArcStr;

use self::reader::Reader;
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
    /// Whether it was read without what is deprecated.
    pub(crate) without_deprecated: bool,
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
