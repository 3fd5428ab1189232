//! A schema's model with the resolvers of its fields, and whether they fit each other.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    sync::Arc,
};

use crate::{
    coerce::{IdClasses, Rules},
    document::Type,
    model::{MUTATION, Model, TypeKind, TypeModel},
    registry::{FieldEntries, FieldEntry, Registry, Renewal, Resolver},
};

/// Registered resolvers, for both forms of the schema.
pub(crate) struct Resolvers<C> {
    types: HashMap<&'static str, FieldEntries<C>>,
    pub(crate) composed: HashSet<&'static str>,
    pub(crate) ids: IdClasses,
    /// Further names of types, with the types' own.
    pub(crate) other_names: HashMap<&'static str, &'static str>,
    /// The version whose interface this is, as `@gl_introduced` compares it.
    pub(crate) version: Vec<u32>,
    renewal: Option<Renewal<C>>,
}

/// A schema's model with the resolvers of its fields.
pub(crate) struct Engine<C> {
    pub(crate) model: Model,
    pub(crate) registered: Arc<Resolvers<C>>,
}

impl<C> Resolvers<C> {
    pub(crate) fn of(registry: Registry<C>) -> Self {
        let numbers = registry.version.split(['.', '-']);
        Self {
            types: registry.types,
            composed: registry.composed.into_iter().collect(),
            ids: registry.ids,
            other_names: registry.other_names,
            version: numbers.map_while(|number| number.parse().ok()).collect(),
            renewal: registry.renewal,
        }
    }

    /// The context of what is executed after a change.
    pub(crate) fn renewed(&self, context: &Arc<C>) -> Arc<C> {
        self.renewal.map_or_else(|| context.clone(), |renewal| Arc::new(renewal(context)))
    }
}

impl<C> Engine<C> {
    pub(crate) fn rules(&self) -> Rules<'_> {
        Rules { model: &self.model, ids: &self.registered.ids }
    }

    pub(crate) fn entry(&self, on: &str, field: &str) -> Option<&FieldEntry<C>> {
        self.registered.types.get(on)?.get(field)
    }

    /// The fields of what does not exist here.
    pub(crate) fn unsupported(&self) -> Vec<String> {
        let fields = self.registered.types.iter().flat_map(|(on, entries)| {
            let entries = entries.iter();
            entries.filter_map(move |(field, entry)| match entry.resolver {
                Some(Resolver::Unsupported) => Some(format!("{on}.{field}")),
                _ => None,
            })
        });
        fields.collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// All that does not fit: sorted sentences.
    pub(crate) fn mistakes(&self) -> Vec<String> {
        let mut mistakes = BTreeSet::new();
        let assembled = self.assembled();
        for found in self.model.types.values() {
            let TypeKind::Object(members) = &found.kind else { continue };
            let own = assembled.contains(found.name.as_str())
                || self.registered.composed.contains(found.name.as_str());
            if own || found.is_built_in() {
                continue;
            }
            let Some(entries) = self.registered.types.get(found.name.as_str()) else {
                mistakes.insert(format!("{} is registered by nobody", found.name));
                continue;
            };
            for field in members.fields.values() {
                let entry = entries.get(field.name.as_str());
                match entry.and_then(|entry| entry.resolver.as_ref()) {
                    None => {
                        mistakes.insert(format!("{}.{} has no resolver", found.name, field.name));
                    }
                    Some(Resolver::Unsupported) if !self.can_be_nothing(&field.kind) => {
                        mistakes.insert(format!("{}.{} cannot be nothing", found.name, field.name));
                    }
                    Some(_) => {}
                }
            }
        }
        for (on, entries) in &self.registered.types {
            match self.model.find(on).and_then(TypeModel::members) {
                None => {
                    mistakes.insert(format!("{on} is registered, but no type of the schema"));
                }
                Some(members) => {
                    for field in
                        entries.keys().filter(|field| !members.fields.contains_key(**field))
                    {
                        mistakes
                            .insert(format!("{on}.{field} is registered, but not in the schema"));
                    }
                }
            }
        }
        mistakes.into_iter().collect()
    }

    /// The types whose objects the engine makes: pages of lists, their edges, and payloads of mutations.
    fn assembled(&self) -> HashSet<String> {
        let mut names = HashSet::from(["PageInfo".to_owned()]);
        for found in self.model.types.values().filter(|found| found.is_connection()) {
            names.insert(found.name.to_string());
            let edges = found.members().and_then(|members| members.fields.get("edges"));
            names.extend(edges.map(|edges| edges.kind.name().to_owned()));
        }
        let mutations = self.model.find(MUTATION).and_then(TypeModel::members);
        for mutation in mutations.into_iter().flat_map(|members| members.fields.values()) {
            names.insert(mutation.kind.name().to_owned());
        }
        names
    }

    fn can_be_nothing(&self, kind: &Type) -> bool {
        match kind {
            Type::NonNull(inner) => match &**inner {
                Type::Named(name) => self.model.find(name).is_some_and(|found| {
                    found.is_connection()
                        || matches!(
                            name.as_str(),
                            "Boolean" | "Int" | "Float" | "String" | "BigInt"
                        )
                }),
                _ => true,
            },
            _ => true,
        }
    }
}
