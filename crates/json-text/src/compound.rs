//! Lists and objects.

use serde::{
    Serialize,
    ser::{
        Error as _, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant,
        SerializeTuple, SerializeTupleStruct, SerializeTupleVariant,
    },
};

use crate::{JsonError, Writer};

/// A list or an object that is being written.
pub(crate) struct Compound<'w> {
    writer: &'w mut Writer,
    is_first: bool,
    end: &'static str,
}

impl<'w> Compound<'w> {
    pub(crate) fn new(writer: &'w mut Writer, end: &'static str) -> Self {
        Self { writer, is_first: true, end }
    }

    /// A struct that stands for JSON.
    pub(crate) fn raw(writer: &'w mut Writer) -> Self {
        writer.is_raw = true;
        Self::new(writer, "")
    }

    fn element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), JsonError> {
        if !std::mem::take(&mut self.is_first) {
            self.writer.begin(b',');
        }
        value.serialize(&mut *self.writer)
    }

    fn field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), JsonError> {
        let is_first = std::mem::take(&mut self.is_first);
        if !self.writer.is_raw {
            self.writer.name(name, is_first);
        }
        value.serialize(&mut *self.writer)
    }

    fn finish(self) {
        self.writer.is_raw = false;
        self.writer.end(self.end);
    }
}

/// Puts the key that begins at `begin` into quotes; an error where it is neither a number nor a switch.
#[cold]
fn quote_key(text: &mut Vec<u8>, begin: usize) -> Result<(), JsonError> {
    if !matches!(text.get(begin), Some(b'-' | b'0'..=b'9' | b't' | b'f')) {
        return Err(JsonError::custom("the key of a map must be a text"));
    }
    text.insert(begin, b'"');
    text.push(b'"');
    Ok(())
}

impl SerializeMap for Compound<'_> {
    type Ok = ();
    type Error = JsonError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), JsonError> {
        if !std::mem::take(&mut self.is_first) {
            self.writer.begin(b',');
        }
        let begin = self.writer.text.len();
        key.serialize(&mut *self.writer)?;
        match self.writer.text.get(begin) {
            Some(b'"') => Ok(()),
            _ => quote_key(&mut self.writer.text, begin),
        }
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), JsonError> {
        self.writer.begin(b':');
        value.serialize(&mut *self.writer)
    }

    fn end(self) -> Result<(), JsonError> {
        self.finish();
        Ok(())
    }
}

macro_rules! lists {
    ($($trait:ident::$function:ident),* $(,)?) => {$(
        impl $trait for Compound<'_> {
            type Ok = ();
            type Error = JsonError;

            fn $function<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), JsonError> {
                self.element(value)
            }

            fn end(self) -> Result<(), JsonError> {
                self.finish();
                Ok(())
            }
        }
    )*};
}

lists! {
    SerializeSeq::serialize_element,
    SerializeTuple::serialize_element,
    SerializeTupleStruct::serialize_field,
    SerializeTupleVariant::serialize_field,
}

macro_rules! structs {
    ($($trait:ident),*) => {$(
        impl $trait for Compound<'_> {
            type Ok = ();
            type Error = JsonError;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                name: &'static str,
                value: &T,
            ) -> Result<(), JsonError> {
                self.field(name, value)
            }

            fn end(self) -> Result<(), JsonError> {
                self.finish();
                Ok(())
            }
        }
    )*};
}

structs!(SerializeStruct, SerializeStructVariant);
