//! A piece of work that keeps its own answer. Pools, retries and threads then deal with one type, and are compiled once
//! instead of once for each closure.

use std::any::Any;

use kernel::{Error, Result};

use crate::{
    Tx,
    origin::{self, Origin},
};

/// Work on an open transaction that keeps its answer to itself.
pub(crate) type Step<'a> = &'a mut dyn FnMut(&mut Tx<'_>) -> Result<()>;

/// Work of any type. It is called in one place, so that it is compiled once.
pub(crate) trait AnyPiece: Any + Send {
    /// Runs it: for the last time, or on a copy of what it holds, so that it can be run again.
    fn run(&mut self, tx: &mut Tx<'_>, is_last: bool) -> Result<()>;
}

impl dyn AnyPiece {
    /// Runs it on a copy of what it holds, so that it can be run again.
    pub(crate) fn attempt(&mut self, tx: &mut Tx<'_>) -> Result<()> {
        self.run(tx, false)
    }

    /// Runs it for the last time.
    pub(crate) fn finish(&mut self, tx: &mut Tx<'_>) -> Result<()> {
        self.run(tx, true)
    }
}

/// Work, and what came of it.
pub(crate) struct Piece<F, T> {
    work: Option<F>,
    answer: Option<T>,
    /// Who asked for it, where it was made.
    origin: Origin,
}

impl<F: FnOnce(&mut Tx<'_>) -> Result<T>, T> Piece<F, T> {
    pub(crate) fn new(work: F) -> Self {
        Self { work: Some(work), answer: None, origin: origin::current() }
    }

    /// Runs it for the only time.
    pub(crate) fn once(&mut self, tx: &mut Tx<'_>) -> Result<()> {
        let work = self.work.take().ok_or_else(over)?;
        tx.origin = self.origin;
        self.answer = Some(work(tx)?);
        Ok(())
    }

    pub(crate) fn answer(self) -> Result<T> {
        self.answer.ok_or_else(over)
    }
}

impl<F, T> Piece<F, T>
where
    F: FnOnce(&mut Tx<'_>) -> Result<T> + Clone + Send + 'static,
    T: Send + 'static,
{
    pub(crate) fn boxed(work: F) -> Box<dyn AnyPiece> {
        Box::new(Self::new(work))
    }

    /// The answer of a piece that was made from such work.
    pub(crate) fn answer_of(mut piece: Box<dyn AnyPiece>) -> Result<T> {
        let any: &mut dyn Any = &mut *piece;
        any.downcast_mut::<Self>().and_then(|piece| piece.answer.take()).ok_or_else(over)
    }
}

impl<F, T> AnyPiece for Piece<F, T>
where
    F: FnOnce(&mut Tx<'_>) -> Result<T> + Clone + Send + 'static,
    T: Send + 'static,
{
    fn run(&mut self, tx: &mut Tx<'_>, is_last: bool) -> Result<()> {
        let work = if is_last { self.work.take() } else { self.work.clone() };
        let work = work.ok_or_else(over)?;
        tx.origin = self.origin;
        self.answer = Some(work(tx)?);
        Ok(())
    }
}

/// Nobody asks for an answer before the work, or for two of them.
#[cold]
#[inline(never)]
fn over() -> Error {
    Error::internal("a piece of work was run twice, or not at all")
}
