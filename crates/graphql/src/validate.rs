//! Whether a document fits the schema: the language's rules, with the texts and codes that clients know.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::{Value as Json, json};

use crate::{
    coerce::{Rules, Variables},
    document::{
        Argument, Directive, Document, Field, Fragment, Literal, Operation, OperationKind,
        Position, Selection, Type,
    },
    error::QueryError,
    model::{ArgumentModel, TypeKind, TypeModel},
};

/// How many errors are told.
const MOST_ERRORS: usize = 5;

/// Holds a document against the schema. Answers with the first things that are wrong.
pub(crate) fn validate(rules: Rules<'_>, document: &Document) -> Vec<QueryError> {
    let mut validation = Validation {
        rules,
        fragments: document.fragments.iter().map(|it| (it.name.as_str(), it)).collect(),
        errors: Vec::new(),
        path: Vec::new(),
        used: Usage::default(),
    };
    validation.names(document);
    let mut by_fragment = HashMap::new();
    for fragment in &document.fragments {
        validation.fragment(fragment);
        by_fragment.insert(fragment.name.as_str(), std::mem::take(&mut validation.used));
    }
    validation.fragments_end(&by_fragment, document);
    let mut spread = BTreeSet::new();
    for operation in &document.operations {
        validation.operation(operation);
        let used = std::mem::take(&mut validation.used);
        let reached = reached(&used, &by_fragment);
        validation.variables(operation, &used, &reached, &by_fragment);
        spread.extend(reached);
    }
    for fragment in &document.fragments {
        if !spread.contains(fragment.name.as_str()) {
            let message = format!("Fragment {} was defined, but not used", fragment.name);
            validation.path = vec![format!("fragment {}", fragment.name).into()];
            let extensions =
                json!({ "code": "useAndDefineFragment", "fragmentName": fragment.name });
            validation.report(message, fragment.at, extensions);
        }
    }
    validation.errors
}

/// What stands in a fragment or an operation.
#[derive(Default)]
struct Usage<'a> {
    fragments: BTreeSet<&'a str>,
    variables: Vec<VariableUse<'a>>,
}

/// A variable in the value of an argument.
struct VariableUse<'a> {
    name: &'a str,
    argument: String,
    /// The type at that place; nothing inside values of any form.
    wanted: Option<Type>,
    /// Whether the place has a value of its own.
    has_default: bool,
    at: Position,
    path: Vec<Json>,
}

/// The fragments that are spread in an operation, also by others.
fn reached<'a>(used: &Usage<'a>, by_fragment: &HashMap<&'a str, Usage<'a>>) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    let mut left: Vec<&str> = used.fragments.iter().copied().collect();
    while let Some(name) = left.pop() {
        if found.insert(name) {
            left.extend(by_fragment.get(name).into_iter().flat_map(|used| &used.fragments));
        }
    }
    found
}

struct Validation<'a> {
    rules: Rules<'a>,
    fragments: HashMap<&'a str, &'a Fragment>,
    errors: Vec<QueryError>,
    path: Vec<Json>,
    used: Usage<'a>,
}

/// What has arguments, as messages call it.
struct Owner<'a> {
    kind: &'static str,
    name: &'a str,
}

impl Owner<'_> {
    fn words(&self) -> String {
        match self.kind {
            "InputObject" => format!("InputObject '{}'", self.name),
            kind => format!("{kind} '{}'", self.name),
        }
    }
}

impl<'a> Validation<'a> {
    fn is_full(&self) -> bool {
        self.errors.len() >= MOST_ERRORS
    }

    fn report(&mut self, message: String, at: Position, extensions: Json) {
        if !self.is_full() {
            self.errors.push(QueryError {
                message,
                locations: vec![at],
                path: Some(self.path.clone()),
                extensions: Some(extensions),
            });
        }
    }

    fn inside(&mut self, step: impl Into<Json>, visit: impl FnOnce(&mut Self)) {
        self.path.push(step.into());
        visit(self);
        self.path.pop();
    }

    fn names(&mut self, document: &Document) {
        let mut operations = BTreeMap::new();
        for operation in &document.operations {
            *operations.entry(operation.name.as_deref()).or_insert(0) += 1;
        }
        for (name, count) in operations {
            if count < 2 && (name.is_some() || document.operations.len() < 2) {
                continue;
            }
            let first = document.operations.iter().find(|it| it.name.as_deref() == name);
            let at = first.map(|operation| operation.at).unwrap_or_default();
            let message = match name {
                Some(name) => format!("Operation name \"{name}\" must be unique"),
                None => {
                    "Operation name is required when multiple operations are present".to_owned()
                }
            };
            let extensions = json!({ "code": "uniquelyNamedOperations", "operationName": name });
            self.report(message, at, extensions);
        }
        let mut fragments = BTreeSet::new();
        for fragment in &document.fragments {
            if !fragments.insert(fragment.name.as_str()) {
                let message = format!("Fragment name \"{}\" must be unique", fragment.name);
                let extensions =
                    json!({ "code": "fragmentNotUnique", "fragmentName": fragment.name });
                self.report(message, fragment.at, extensions);
            }
        }
    }

    fn operation(&mut self, operation: &'a Operation) {
        self.path = vec![match &operation.name {
            Some(name) => format!("{} {name}", operation.kind.word()).into(),
            None => operation.kind.word().into(),
        }];
        self.directives(
            &operation.directives,
            match operation.kind {
                OperationKind::Query => ("QUERY", "queries"),
                OperationKind::Mutation => ("MUTATION", "mutations"),
                OperationKind::Subscription => ("SUBSCRIPTION", "subscriptions"),
            },
        );
        let model = self.rules.model;
        let root = match operation.kind {
            OperationKind::Query => model.find(crate::model::QUERY),
            OperationKind::Mutation => model.mutation.as_ref().and_then(|name| model.find(name)),
            OperationKind::Subscription => None,
        };
        match root {
            Some(root) => self.selections(&operation.selections, root),
            None => {
                let word = operation.kind.word();
                let code = match operation.kind {
                    OperationKind::Subscription => "missingSubscriptionConfiguration",
                    _ => "missingMutationConfiguration",
                };
                let message = format!("Schema is not configured for {word}s");
                self.report(message, operation.at, json!({ "code": code }));
            }
        }
    }

    fn fragment(&mut self, fragment: &'a Fragment) {
        self.path = vec![format!("fragment {}", fragment.name).into()];
        self.directives(&fragment.directives, ("FRAGMENT_DEFINITION", "fragment definitions"));
        let condition = &fragment.condition;
        if let Some(on) = self.condition(&condition.text, condition.at) {
            self.selections(&fragment.selections, on);
        }
    }

    /// The type that a fragment is for.
    fn condition(&mut self, name: &str, at: Position) -> Option<&'a TypeModel> {
        match self.rules.model.find(name) {
            None => {
                let message = format!("No such type {name}, so it can't be a fragment condition");
                self.report(message, at, json!({ "code": "undefinedType", "typeName": name }));
                None
            }
            Some(found) if !found.is_composite() => {
                let message =
                    format!("Invalid fragment on type {name} (must be Union, Interface or Object)");
                let extensions = json!({ "code": "fragmentOnNonCompositeType", "typeName": name });
                self.report(message, at, extensions);
                None
            }
            found => found,
        }
    }

    fn selections(&mut self, selections: &'a [Selection], on: &'a TypeModel) {
        for selection in selections {
            if self.is_full() {
                return;
            }
            match selection {
                Selection::Field(field) => {
                    self.inside(field.key(), |this| this.field(field, on));
                }
                Selection::Spread(spread) => {
                    self.directives(&spread.directives, ("FRAGMENT_SPREAD", "fragment spreads"));
                    self.used.fragments.insert(&spread.name);
                    match self.fragments.get(spread.name.as_str()) {
                        Some(fragment) => {
                            let (name, to) = (Some(&spread.name), &fragment.condition.text);
                            self.spread(name, to, on, spread.at);
                        }
                        None => {
                            let message =
                                format!("Fragment {} was used, but not defined", spread.name);
                            let extensions = json!({
                                "code": "useAndDefineFragment",
                                "fragmentName": spread.name,
                            });
                            self.report(message, spread.at, extensions);
                        }
                    }
                }
                Selection::Inline(inline) => {
                    self.directives(&inline.directives, ("INLINE_FRAGMENT", "inline fragments"));
                    let step = match &inline.condition {
                        Some(condition) => format!("... on {}", condition.text),
                        None => "...".to_owned(),
                    };
                    self.inside(step, |this| match &inline.condition {
                        None => this.selections(&inline.selections, on),
                        Some(condition) => {
                            if let Some(to) = this.condition(&condition.text, condition.at) {
                                this.spread(None, &condition.text, on, inline.at);
                                this.selections(&inline.selections, to);
                            }
                        }
                    });
                }
            }
        }
    }

    /// Ensures that an object of one type may be of the other.
    fn spread(&mut self, name: Option<&String>, to: &str, on: &TypeModel, at: Position) {
        let Some(to) = self.rules.model.find(to).filter(|to| to.is_composite()) else { return };
        if !self.rules.model.overlaps(on, to) {
            let what = match name {
                Some(name) => format!("Fragment {name} on {}", to.name),
                None => format!("Fragment on {}", to.name),
            };
            let message = format!("{what} can't be spread inside {}", on.name);
            let extensions = json!({
                "code": "cannotSpreadFragment",
                "typeName": on.name.as_str(),
                "fragmentName": name.map_or("unknown", String::as_str),
                "parentName": to.name.as_str(),
            });
            self.report(message, at, extensions);
        }
    }

    fn field(&mut self, field: &'a Field, on: &'a TypeModel) {
        let Some(model) = self.rules.model.field(on, &field.name) else {
            let (name, kind) = (&field.name, on.name.as_str());
            let message = match on.kind {
                TypeKind::Union => {
                    format!(
                        "Selections can't be made directly on unions (see selections on {kind})"
                    )
                }
                _ => format!("Field '{name}' doesn't exist on type '{kind}'"),
            };
            let extensions =
                json!({ "code": "undefinedField", "typeName": kind, "fieldName": name });
            return self.report(message, field.at, extensions);
        };
        self.directives(&field.directives, ("FIELD", "fields"));
        let owner = Owner { kind: "Field", name: &field.name };
        self.arguments(&field.arguments, &model.arguments, &owner, field.at);
        let Some(kind) = self.rules.model.find(model.kind.name()) else { return };
        match (kind.is_composite(), field.selections.is_empty()) {
            (true, false) => self.selections(&field.selections, kind),
            (false, true) => {}
            (true, true) => self.selection_mismatch(
                field,
                kind,
                format!(
                    "Field must have selections (field '{0}' returns {1} but has no selections. \
                 Did you mean '{0} {{ ... }}'?)",
                    field.name, kind.name
                ),
            ),
            (false, false) => {
                let names = field.selections.iter().map(|selection| match selection {
                    Selection::Field(field) => field.name.clone(),
                    Selection::Spread(spread) => spread.name.clone(),
                    Selection::Inline(inline) => {
                        inline.condition.as_ref().map_or(String::new(), |it| it.text.clone())
                    }
                });
                let names = names.take(MOST_ERRORS).collect::<Vec<_>>().join(", ");
                self.selection_mismatch(field, kind, format!(
                    "Selections can't be made on scalars (field '{}' returns {} but has selections [{names}])",
                    field.name, kind.name
                ));
            }
        }
    }

    fn selection_mismatch(&mut self, field: &Field, kind: &TypeModel, message: String) {
        let extensions = json!({
            "code": "selectionMismatch",
            "nodeName": format!("field '{}'", field.name),
            "typeName": kind.name.as_str(),
        });
        self.report(message, field.at, extensions);
    }

    fn directives(&mut self, directives: &'a [Directive], place: (&str, &str)) {
        let mut seen = BTreeSet::new();
        for directive in directives {
            let name = directive.name.as_str();
            let models = &self.rules.model.directives;
            let Some(model) = models.iter().find(|model| model.name == name) else {
                let message = format!("Directive @{name} is not defined");
                let extensions = json!({ "code": "undefinedDirective", "directiveName": name });
                self.report(message, directive.at, extensions);
                continue;
            };
            if !model.locations.iter().any(|location| location == place.0) {
                let allowed: Vec<_> = model.locations.iter().map(|it| words_for(it)).collect();
                let message = format!(
                    "'@{name}' can't be applied to {} (allowed: {})",
                    place.1,
                    allowed.join(", ")
                );
                let extensions = json!({
                    "code": "directiveCannotBeApplied",
                    "targetName": place.1,
                    "name": name,
                });
                self.report(message, directive.at, extensions);
            }
            if !seen.insert(name) {
                let message =
                    format!("The directive \"{name}\" can only be used once at this location.");
                let extensions =
                    json!({ "code": "directiveNotUniqueForLocation", "directiveName": name });
                self.report(message, directive.at, extensions);
            }
            let owner = Owner { kind: "Directive", name };
            self.arguments(&directive.arguments, &model.arguments, &owner, directive.at);
        }
    }

    fn arguments(
        &mut self,
        given: &'a [Argument],
        models: &'a [ArgumentModel],
        owner: &Owner<'_>,
        at: Position,
    ) {
        let mut seen = BTreeSet::new();
        for argument in given {
            let name = argument.name.as_str();
            if !seen.insert(name) {
                let message = format!("There can be only one argument named \"{name}\"");
                let extensions = json!({ "code": "argumentNotUnique", "name": name });
                self.report(message, argument.at, extensions);
            }
            self.inside(name, |this| match models.iter().find(|model| model.name == name) {
                Some(model) => this.argument(&argument.value, name, model, owner, argument.at),
                None => this.unknown_argument(name, owner, argument.at),
            });
        }
        let missing = models.iter().filter(|model| {
            model.is_required() && !given.iter().any(|given| model.name == given.name.as_str())
        });
        let missing: Vec<&str> = missing.map(|model| model.name.as_str()).collect();
        if !missing.is_empty() {
            let missing = missing.join(", ");
            let message = format!("{} is missing required arguments: {missing}", owner.words());
            let extensions = json!({
                "code": "missingRequiredArguments",
                "className": owner.kind,
                "name": owner.name,
                "arguments": missing,
            });
            self.report(message, at, extensions);
        }
    }

    fn unknown_argument(&mut self, name: &str, owner: &Owner<'_>, at: Position) {
        let message = format!("{} doesn't accept argument '{name}'", owner.words());
        let extensions = json!({
            "code": "argumentNotAccepted",
            "name": owner.name,
            "typeName": owner.kind,
            "argumentName": name,
        });
        self.report(message, at, extensions);
    }

    /// An argument's value, or the value of a field of an input object.
    fn argument(
        &mut self,
        value: &'a Literal,
        name: &str,
        model: &'a ArgumentModel,
        owner: &Owner<'_>,
        at: Position,
    ) {
        if self.parts(value, &model.kind, model.default.is_some(), name, at) {
            return;
        }
        let words = owner.words();
        let extensions = json!({
            "code": "argumentLiteralsIncompatible",
            "typeName": owner.kind,
            "argumentName": name,
        });
        let message = match self.rules.literal(&known(value), &model.kind, &Variables::new()) {
            Err(Some(reason)) => reason,
            _ => format!(
                "Argument '{name}' on {words} has an invalid value ({value}). Expected type '{}'.",
                model.kind
            ),
        };
        self.report(message, at, extensions);
    }

    /// Whether a value may stand where the type is wanted. What is wrong inside of input objects is reported at once;
    /// variables are noted, and looked at when all of the operation is known.
    fn parts(
        &mut self,
        value: &'a Literal,
        kind: &Type,
        has_default: bool,
        name: &str,
        at: Position,
    ) -> bool {
        match (value, kind) {
            (Literal::Variable(variable), _) => {
                self.used.variables.push(VariableUse {
                    name: variable,
                    argument: name.to_owned(),
                    wanted: Some(kind.clone()),
                    has_default,
                    at,
                    path: self.path.clone(),
                });
                true
            }
            (Literal::Null, _) => !kind.is_non_null(),
            (_, Type::NonNull(inner)) => self.parts(value, inner, has_default, name, at),
            (Literal::List(elements), Type::List(inner)) => {
                elements.iter().all(|element| self.parts(element, inner, false, name, at))
            }
            (_, Type::List(inner)) => self.parts(value, inner, false, name, at),
            (_, Type::Named(type_name)) => self.named_parts(value, type_name, at),
        }
    }

    fn named_parts(&mut self, value: &'a Literal, type_name: &str, at: Position) -> bool {
        let model = self.rules.model.find(type_name);
        match (model.map(|model| &model.kind), value) {
            (Some(TypeKind::Input(fields)), Literal::Object(given)) => {
                let owner = Owner { kind: "InputObject", name: type_name };
                let mut seen = BTreeSet::new();
                for (name, value) in given {
                    if !seen.insert(name) {
                        let message = format!("There can be only one input field named \"{name}\"");
                        let extensions = json!({ "code": "inputFieldNotUnique", "name": name });
                        self.report(message, at, extensions);
                    }
                    self.inside(name.as_str(), |this| {
                        match fields.iter().find(|field| field.name == name.as_str()) {
                            Some(field) => this.argument(value, name, field, &owner, at),
                            None => this.unknown_argument(name, &owner, at),
                        }
                    });
                }
                for field in fields.iter().filter(|field| field.is_required()) {
                    if !given.iter().any(|(name, _)| field.name == name.as_str()) {
                        self.required_field(field, type_name, at);
                    }
                }
                true
            }
            (Some(TypeKind::Input(_)), _) => false,
            (Some(TypeKind::Scalar), Literal::List(_) | Literal::Object(_)) => {
                let mut inside = Vec::new();
                value.each_variable(&mut |name| inside.push(name));
                let path = self.path.clone();
                self.used.variables.extend(inside.into_iter().map(|name| VariableUse {
                    name,
                    argument: String::new(),
                    wanted: None,
                    has_default: true,
                    at,
                    path: path.clone(),
                }));
                type_name == "JSON"
            }
            _ => {
                let kind = Type::Named(type_name.to_owned());
                self.rules.literal(value, &kind, &Variables::new()).is_ok()
            }
        }
    }

    fn required_field(&mut self, field: &ArgumentModel, on: &str, at: Position) {
        let (name, kind) = (field.name.as_str(), &field.kind);
        let message =
            format!("Argument '{name}' on InputObject '{on}' is required. Expected type {kind}");
        let extensions = json!({
            "code": "missingRequiredInputObjectAttribute",
            "argumentName": name,
            "argumentType": kind.to_string(),
            "inputObjectType": on,
        });
        self.inside(name, |this| this.report(message, at, extensions));
    }

    /// Fragments that spread themselves.
    fn fragments_end(&mut self, by_fragment: &HashMap<&'a str, Usage<'a>>, document: &Document) {
        for fragment in &document.fragments {
            let name = fragment.name.as_str();
            let ends =
                by_fragment.get(name).is_none_or(|used| !reached(used, by_fragment).contains(name));
            if !ends {
                self.path = vec![format!("fragment {name}").into()];
                let message = format!("Fragment {name} contains an infinite loop");
                let extensions = json!({ "code": "infiniteLoop", "fragmentName": name });
                self.report(message, fragment.at, extensions);
            }
        }
    }

    fn variables(
        &mut self,
        operation: &Operation,
        used: &Usage<'a>,
        reached: &BTreeSet<&'a str>,
        by_fragment: &HashMap<&'a str, Usage<'a>>,
    ) {
        let owner = operation.name.clone();
        let owner = owner.unwrap_or_else(|| format!("anonymous {}", operation.kind.word()));
        let own_path = self.path.clone();
        self.definitions(operation);
        let fragments = reached.iter().filter_map(|name| by_fragment.get(name));
        let uses: Vec<_> =
            std::iter::once(used).chain(fragments).flat_map(|used| &used.variables).collect();
        for definition in &operation.variables {
            if !uses.iter().any(|used| used.name == definition.name) {
                let name = &definition.name;
                let message = format!("Variable ${name} is declared by {owner} but not used");
                let extensions = json!({ "code": "variableNotUsed", "variableName": name });
                self.path.clone_from(&own_path);
                self.report(message, definition.at, extensions);
            }
        }
        for used in uses {
            self.path.clone_from(&used.path);
            let name = used.name;
            let Some(definition) = operation.variables.iter().find(|it| it.name == name) else {
                let message = format!("Variable ${name} is used by {owner} but not declared");
                let extensions = json!({ "code": "variableNotDefined", "variableName": name });
                self.report(message, used.at, extensions);
                continue;
            };
            let default = definition.default.as_ref();
            let has_value = used.has_default || default.is_some_and(|it| *it != Literal::Null);
            let mismatch = used
                .wanted
                .as_ref()
                .and_then(|wanted| mismatch(&definition.kind, wanted, has_value));
            if let (Some(why), Some(wanted)) = (mismatch, &used.wanted) {
                let message = format!(
                    "{why} on variable ${name} and argument {} ({} / {wanted})",
                    used.argument, definition.kind
                );
                let extensions = json!({
                    "code": "variableMismatch",
                    "variableName": name,
                    "typeName": definition.kind.to_string(),
                    "argumentName": used.argument,
                    "errorMessage": why,
                });
                self.report(message, used.at, extensions);
            }
        }
        self.path = own_path;
    }

    fn definitions(&mut self, operation: &Operation) {
        let mut seen = BTreeSet::new();
        for definition in &operation.variables {
            let (name, kind) = (&definition.name, &definition.kind);
            if !seen.insert(name) {
                let message = format!("There can only be one variable named \"{name}\"");
                let extensions = json!({ "code": "variableNotUnique", "variableName": name });
                self.report(message, definition.at, extensions);
            }
            let type_name = kind.name();
            let found = self.rules.model.find(type_name);
            if !found.is_some_and(TypeModel::is_input) {
                let message = match found {
                    None => format!("{type_name} isn't a defined input type (on ${name})"),
                    Some(_) => format!("{type_name} isn't a valid input type (on ${name})"),
                };
                let extensions = json!({
                    "code": "variableRequiresValidType",
                    "typeName": type_name,
                    "variableName": name,
                });
                self.report(message, definition.at, extensions);
                continue;
            }
            if let Some(default) = &definition.default {
                let fits = self.rules.literal(default, kind, &Variables::new());
                if fits.is_err() {
                    let message = format!("Default value for ${name} doesn't match type {kind}");
                    let extensions = json!({
                        "code": "defaultValueInvalidType",
                        "variableName": name,
                        "typeName": kind.to_string(),
                    });
                    self.report(message, definition.at, extensions);
                }
            }
        }
    }
}

/// A literal without its variables, to find the reason why it is refused.
fn known(literal: &Literal) -> Literal {
    match literal {
        Literal::List(elements) => Literal::List(
            elements.iter().filter(|it| !matches!(it, Literal::Variable(_))).map(known).collect(),
        ),
        other => other.clone(),
    }
}

fn words_for(location: &str) -> &'static str {
    match location {
        "QUERY" => "queries",
        "MUTATION" => "mutations",
        "SUBSCRIPTION" => "subscriptions",
        "FIELD" => "fields",
        "FRAGMENT_DEFINITION" => "fragment definitions",
        "FRAGMENT_SPREAD" => "fragment spreads",
        "INLINE_FRAGMENT" => "inline fragments",
        _ => "schemas",
    }
}

/// Why a variable may not stand where another type is wanted.
fn mismatch(given: &Type, wanted: &Type, has_value: bool) -> Option<&'static str> {
    match (given, wanted) {
        (Type::NonNull(given), Type::NonNull(wanted)) => mismatch(given, wanted, false),
        (Type::NonNull(given), wanted) => mismatch(given, wanted, false),
        (given, Type::NonNull(wanted)) if has_value => mismatch(given, wanted, false),
        (_, Type::NonNull(wanted)) => {
            Some(mismatch(given, wanted, false).unwrap_or("Nullability mismatch"))
        }
        (Type::List(given), Type::List(wanted)) => mismatch(given, wanted, false),
        (Type::Named(given), Type::Named(wanted)) => (given != wanted).then_some("Type mismatch"),
        _ => Some("List dimension mismatch"),
    }
}
