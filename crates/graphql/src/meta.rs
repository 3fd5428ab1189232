//! The model's types as juniper knows types.

use juniper::{
    ArcStr, FieldError, FromInputValue, InputValue, ParseScalarResult, ParseScalarValue, Registry,
    ScalarToken, Type as JuniperType,
    meta::{
        Argument, DeprecationStatus, EnumMeta, EnumValue, Field, InputObjectMeta, InterfaceMeta,
        MetaType, ObjectMeta, ScalarMeta, UnionMeta,
    },
};

use crate::{
    document::{Literal, Type},
    introspection::{Info, Node},
    model::{ArgumentModel, FieldModel, Members, TypeKind, TypeModel, ValueModel},
};

/// Any value: what comes in is checked before juniper sees a document.
pub(crate) struct AnyValue;

impl FromInputValue for AnyValue {
    type Error = FieldError;

    fn from_input_value(_: &InputValue) -> Result<Self, Self::Error> {
        Ok(Self)
    }
}

impl ParseScalarValue for AnyValue {
    fn from_str(token: ScalarToken<'_>) -> ParseScalarResult {
        <String as ParseScalarValue>::from_str(token)
    }
}

/// Tells juniper of a type, and with the root of all others.
pub(crate) fn meta<C: Send + Sync + 'static>(info: &Info<C>, registry: &mut Registry) -> MetaType {
    let model = &info.engine.model;
    if info.is_root() {
        for built_in in ["Boolean", "Float", "ID", "Int"] {
            match built_in {
                "Boolean" => drop(registry.get_type::<bool>(&())),
                "Float" => drop(registry.get_type::<f64>(&())),
                "ID" => drop(registry.get_type::<juniper::ID>(&())),
                _ => drop(registry.get_type::<i32>(&())),
            }
        }
        let others = model.types.values();
        let others = others.filter(|kind| !kind.is_built_in() && kind.name != info.name);
        for other in others {
            registry.get_type::<Node<C>>(&info.of(other.name.clone()));
        }
    }
    match model.find(&info.name) {
        Some(found) => described(found, registry),
        None => ScalarMeta::new::<AnyValue>(info.name.clone()).into_meta(),
    }
}

/// A type with its description.
macro_rules! with_description {
    ($meta:expr, $of:expr) => {
        match &$of.description {
            Some(text) => $meta.description(text.clone()).into_meta(),
            None => $meta.into_meta(),
        }
    };
}

fn described(found: &TypeModel, registry: &mut Registry) -> MetaType {
    let name = found.name.clone();
    match &found.kind {
        TypeKind::Scalar => with_description!(ScalarMeta::new::<AnyValue>(name), found),
        TypeKind::Enum(values) => {
            let values: Vec<_> = values.iter().map(value).collect();
            with_description!(EnumMeta::new::<AnyValue>(name, &values), found)
        }
        TypeKind::Object(members) => {
            let object = ObjectMeta::new(name, &fields(members, registry));
            with_description!(object.interfaces(&interfaces(members)), found)
        }
        TypeKind::Interface(members) => {
            let interface = InterfaceMeta::new(name, &fields(members, registry));
            with_description!(interface.interfaces(&interfaces(members)), found)
        }
        TypeKind::Union => {
            let types: Vec<_> = found.possible.iter().map(named).collect();
            with_description!(UnionMeta::new(name, &types), found)
        }
        TypeKind::Input(inputs) => {
            let inputs: Vec<_> = inputs.iter().map(argument).collect();
            with_description!(InputObjectMeta::new::<AnyValue>(name, &inputs), found)
        }
    }
}

fn named(name: &ArcStr) -> JuniperType {
    JuniperType::nullable(name.clone())
}

fn interfaces(members: &Members) -> Vec<JuniperType> {
    members.interfaces.iter().map(named).collect()
}

fn fields(members: &Members, registry: &mut Registry) -> Vec<Field<juniper::DefaultScalarValue>> {
    let mut fields: Vec<_> = members.fields.values().map(field).collect();
    fields.push(registry.field::<String>(juniper::arcstr::literal!("__typename"), &()));
    fields
}

fn field(model: &FieldModel) -> Field<juniper::DefaultScalarValue> {
    let arguments: Vec<_> = model.arguments.iter().map(argument).collect();
    Field {
        name: model.name.clone(),
        description: model.description.clone(),
        arguments: (!arguments.is_empty()).then_some(arguments),
        field_type: kind(&model.kind),
        deprecation_status: deprecation(model.deprecated.as_ref()),
    }
}

fn argument(model: &ArgumentModel) -> Argument<juniper::DefaultScalarValue> {
    Argument {
        name: model.name.clone(),
        description: model.description.clone(),
        arg_type: kind(&model.kind),
        default_value: model.default.as_ref().map(input),
        deprecation_status: deprecation(model.deprecated.as_ref()),
    }
}

fn value(model: &ValueModel) -> EnumValue {
    EnumValue {
        name: model.name.clone(),
        description: model.description.clone(),
        deprecation_status: deprecation(model.deprecated.as_ref()),
    }
}

fn deprecation(reason: Option<&ArcStr>) -> DeprecationStatus {
    match reason {
        Some(reason) => DeprecationStatus::Deprecated(Some(reason.clone())),
        None => DeprecationStatus::Current,
    }
}

fn kind(written: &Type) -> JuniperType {
    match written {
        Type::Named(name) => JuniperType::nullable(name.as_str()),
        Type::List(inner) => kind(inner).wrap_list(None),
        Type::NonNull(inner) => kind(inner).wrap_non_null(),
    }
}

fn input(literal: &Literal) -> InputValue {
    match literal {
        Literal::Null => InputValue::null(),
        Literal::Bool(flag) => InputValue::scalar(*flag),
        Literal::Int(text) => match text.parse::<i32>() {
            Ok(number) => InputValue::scalar(number),
            Err(_) => InputValue::scalar(text.as_str()),
        },
        Literal::Float(text) => match text.parse::<f64>() {
            Ok(number) => InputValue::scalar(number),
            Err(_) => InputValue::scalar(text.as_str()),
        },
        Literal::Text(text) => InputValue::scalar(text.as_str()),
        Literal::Enum(name) => InputValue::enum_value(name),
        Literal::Variable(name) => InputValue::variable(name),
        Literal::List(elements) => InputValue::list(elements.iter().map(input).collect()),
        Literal::Object(fields) => InputValue::object(
            fields.iter().map(|(name, value)| (name.as_str(), input(value))).collect(),
        ),
    }
}
