//! The JSON shapes of the API.
