//! The JSON text of answers, as `serde_json` writes it, and the number that tells whether a client has it already.
//!
//! A list spends a quarter of its time on its text, most of it on the question which letters need an escape, which `serde_json`
//! asks for one byte after the other. Here it is asked for eight at once. What a record needs to be written is compiled for each
//! record; so all that does not depend on its type is in functions that are compiled once.

mod compound;
mod error;
mod escape;

use serde::{Serialize, Serializer, ser::Error as _};
use twox_hash::XxHash3_64;

use self::compound::Compound;
pub use self::error::JsonError;

/// How `serde_json` serializes a `RawValue`: a struct of this name with one field, whose text is JSON already.
const RAW_VALUE: &str = "$serde_json::private::RawValue";

/// Appends the JSON text of a value.
///
/// # Errors
/// When the value cannot be JSON: a map has keys that are no texts, numbers or switches, or a value says so itself. Some of
/// its text may have been written.
pub fn append(text: &mut Vec<u8>, value: &impl Serialize) -> Result<(), JsonError> {
    let mut writer = Writer { text: std::mem::take(text), is_raw: false };
    let result = value.serialize(&mut writer);
    *text = writer.text;
    result
}

/// A number that equal texts have in common, and hardly any others. `seed` tells texts of different origin apart.
pub fn fingerprint(seed: u64, text: &[u8]) -> u64 {
    XxHash3_64::oneshot_with_seed(seed, text)
}

/// A text that is being written.
struct Writer {
    text: Vec<u8>,
    /// Whether the next text is JSON already.
    is_raw: bool,
}

impl Writer {
    #[inline(never)]
    fn begin(&mut self, begin: u8) {
        self.text.push(begin);
    }

    #[inline(never)]
    fn end(&mut self, end: &str) {
        self.text.extend_from_slice(end.as_bytes());
    }

    // Where the length of what is appended is known, appending takes no call.
    #[inline(never)]
    fn null(&mut self) {
        self.text.extend_from_slice(b"null");
    }

    #[inline(never)]
    fn switch(&mut self, value: bool) {
        match value {
            true => self.text.extend_from_slice(b"true"),
            false => self.text.extend_from_slice(b"false"),
        }
    }

    /// A text, in quotes.
    #[inline(never)]
    fn string(&mut self, value: &str) {
        if self.is_raw {
            self.text.extend_from_slice(value.as_bytes());
            return;
        }
        self.text.reserve(value.len() + 2);
        self.text.push(b'"');
        escape::append(&mut self.text, value);
        self.text.push(b'"');
    }

    fn integer(&mut self, value: impl itoa::Integer) {
        self.text.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
    }

    /// The name of what follows, where it is not the only thing.
    #[inline(never)]
    fn name(&mut self, name: &str, is_first: bool) {
        if !is_first {
            self.text.push(b',');
        }
        self.string(name);
        self.text.push(b':');
    }

    /// `{"name":`
    fn variant(&mut self, name: &'static str) {
        self.begin(b'{');
        self.name(name, true);
    }

    fn compound<'w>(&'w mut self, begin: u8, end: &'static str) -> Compound<'w> {
        self.begin(begin);
        Compound::new(self, end)
    }
}

/// A finite number as `serde_json` writes it; others have no JSON.
fn float(writer: &mut Writer, value: &impl Serialize) -> Result<(), JsonError> {
    serde_json::to_writer(&mut writer.text, value).map_err(JsonError::custom)
}

macro_rules! integers {
    ($($function:ident: $type:ty),* $(,)?) => {$(
        #[inline(never)]
        fn $function(self, value: $type) -> Result<(), JsonError> {
            self.integer(value);
            Ok(())
        }
    )*};
}

impl<'w> Serializer for &'w mut Writer {
    type Ok = ();
    type Error = JsonError;
    type SerializeSeq = Compound<'w>;
    type SerializeTuple = Compound<'w>;
    type SerializeTupleStruct = Compound<'w>;
    type SerializeTupleVariant = Compound<'w>;
    type SerializeMap = Compound<'w>;
    type SerializeStruct = Compound<'w>;
    type SerializeStructVariant = Compound<'w>;

    integers! {
        serialize_i8: i8,
        serialize_i16: i16,
        serialize_i32: i32,
        serialize_i64: i64,
        serialize_i128: i128,
        serialize_u8: u8,
        serialize_u16: u16,
        serialize_u32: u32,
        serialize_u64: u64,
        serialize_u128: u128,
    }

    fn serialize_bool(self, value: bool) -> Result<(), JsonError> {
        self.switch(value);
        Ok(())
    }

    #[inline(never)]
    fn serialize_f32(self, value: f32) -> Result<(), JsonError> {
        float(self, &value)
    }

    #[inline(never)]
    fn serialize_f64(self, value: f64) -> Result<(), JsonError> {
        float(self, &value)
    }

    fn serialize_char(self, value: char) -> Result<(), JsonError> {
        self.string(value.encode_utf8(&mut [0; 4]));
        Ok(())
    }

    fn serialize_str(self, value: &str) -> Result<(), JsonError> {
        self.string(value);
        Ok(())
    }

    #[inline(never)]
    fn serialize_bytes(self, value: &[u8]) -> Result<(), JsonError> {
        value.serialize(self)
    }

    fn serialize_none(self) -> Result<(), JsonError> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), JsonError> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), JsonError> {
        self.null();
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), JsonError> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<(), JsonError> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), JsonError> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), JsonError> {
        self.variant(variant);
        value.serialize(&mut *self)?;
        self.end("}");
        Ok(())
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Compound<'w>, JsonError> {
        Ok(self.compound(b'[', "]"))
    }

    fn serialize_tuple(self, _: usize) -> Result<Compound<'w>, JsonError> {
        Ok(self.compound(b'[', "]"))
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Compound<'w>, JsonError> {
        Ok(self.compound(b'[', "]"))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Compound<'w>, JsonError> {
        self.variant(variant);
        Ok(self.compound(b'[', "]}"))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Compound<'w>, JsonError> {
        Ok(self.compound(b'{', "}"))
    }

    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Compound<'w>, JsonError> {
        if name == RAW_VALUE {
            return Ok(Compound::raw(self));
        }
        Ok(self.compound(b'{', "}"))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Compound<'w>, JsonError> {
        self.variant(variant);
        Ok(self.compound(b'{', "}}"))
    }
}

#[cfg(test)]
mod tests;
