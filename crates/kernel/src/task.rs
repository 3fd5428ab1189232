//! Work beside the caller: on threads that may be blocked, and in tasks of its own.
//!
//! The runtime's own functions are compiled once for each type of work, which takes 6 kB of machine code for a closure. Here they
//! are given one type: work is boxed, and so is its answer.

use std::{
    any::Any,
    marker::PhantomData,
    pin::Pin,
    task::{Context, Poll},
};

use tokio::task::{self, JoinError};

/// The answer of work of any type.
type AnyAnswer = Box<dyn Any + Send>;

/// A future of any type, which boxes its answer.
trait AnyFuture: Send {
    fn poll_any(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<AnyAnswer>;
}

impl<F: Future<Output: Send + 'static> + Send> AnyFuture for F {
    fn poll_any(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<AnyAnswer> {
        self.poll(context).map(boxed)
    }
}

/// A future as the runtime is given it.
struct AnyTask(Pin<Box<dyn AnyFuture>>);

impl Future for AnyTask {
    type Output = AnyAnswer;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<AnyAnswer> {
        self.0.as_mut().poll_any(context)
    }
}

/// Work that goes on elsewhere, to be awaited for its answer. It goes on when the handle is dropped. The answer is an error
/// where the work panicked or was aborted.
#[derive(Debug)]
pub struct JoinHandle<T> {
    task: task::JoinHandle<AnyAnswer>,
    answer: PhantomData<fn() -> T>,
}

impl<T> JoinHandle<T> {
    fn new(task: task::JoinHandle<AnyAnswer>) -> Self {
        Self { task, answer: PhantomData }
    }

    /// Ends a task where it awaits something. Work on a thread that may be blocked runs to its end once it has begun.
    pub fn abort(&self) {
        self.task.abort();
    }
}

impl<T: 'static> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.task).poll(context).map_ok(unboxed)
    }
}

/// Starts work on a thread that may be blocked. It runs to its end, also where nobody waits for it.
///
/// # Panics
/// Outside of a runtime.
#[track_caller]
pub fn spawn_blocking<T, F>(work: F) -> JoinHandle<T>
where
    T: Send + 'static,
    F: FnOnce() -> T + Send + 'static,
{
    JoinHandle::new(start_blocking(Box::new(move || boxed(work()))))
}

/// Starts a task of its own, on whichever thread is free.
///
/// # Panics
/// Outside of a runtime.
#[track_caller]
pub fn spawn<F>(work: F) -> JoinHandle<F::Output>
where
    F: Future<Output: Send> + Send + 'static,
{
    JoinHandle::new(start(AnyTask(Box::pin(work))))
}

/// Starts a task that stays on this thread, and that nobody waits for.
///
/// # Panics
/// Where the thread takes no tasks of its own: outside of a server's worker threads.
#[track_caller]
pub fn spawn_local(work: impl Future<Output = ()> + 'static) {
    start_local(Box::pin(work));
}

#[track_caller]
#[expect(clippy::disallowed_methods, reason = "it is compiled here, once")]
fn start_blocking(work: Box<dyn FnOnce() -> AnyAnswer + Send>) -> task::JoinHandle<AnyAnswer> {
    task::spawn_blocking(work)
}

#[track_caller]
#[expect(clippy::disallowed_methods, reason = "it is compiled here, once")]
fn start(work: AnyTask) -> task::JoinHandle<AnyAnswer> {
    task::spawn(work)
}

#[track_caller]
#[expect(clippy::disallowed_methods, reason = "it is compiled here, once")]
fn start_local(work: Pin<Box<dyn Future<Output = ()>>>) {
    drop(task::spawn_local(work));
}

fn boxed<T: Send + 'static>(answer: T) -> AnyAnswer {
    Box::new(answer)
}

/// The answer, in the type that the work had.
fn unboxed<T: 'static>(answer: AnyAnswer) -> T {
    *answer.downcast().unwrap_or_else(|_other| other_type())
}

#[cold]
#[inline(never)]
fn other_type() -> ! {
    unreachable!("a task answers in the type that its handle was made for")
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;

    use super::{spawn, spawn_blocking};

    #[tokio::test]
    async fn an_answer_is_that_of_the_work() {
        let text = spawn_blocking(|| "text".to_owned());
        let number = spawn(async { Some(7) });

        assert_eq!(text.await.unwrap(), "text");
        assert_eq!(number.await.unwrap(), Some(7));
        spawn_blocking(|| ()).await.unwrap();
    }

    #[tokio::test]
    async fn a_panic_is_an_error_for_whoever_waits() {
        fn fail() -> u8 {
            panic!("out of order")
        }

        for task in [spawn_blocking(fail), spawn(async { fail() })] {
            let told = task.await.unwrap_err();
            assert!(told.is_panic() && told.to_string().contains("out of order"), "{told}");
        }
    }

    #[tokio::test]
    async fn work_goes_on_when_nobody_waits_for_it() {
        let ((by_thread, from_thread), (by_task, from_task)) =
            (oneshot::channel(), oneshot::channel());
        drop(spawn_blocking(move || by_thread.send(1)));
        drop(spawn(async move { by_task.send(2) }));

        assert_eq!((from_thread.await, from_task.await), (Ok(1), Ok(2)));
    }

    #[tokio::test]
    async fn a_task_that_is_aborted_drops_what_it_holds() {
        let (held, dropped) = oneshot::channel::<()>();
        let task = spawn(async move {
            let _held = held;
            std::future::pending::<()>().await;
        });
        task.abort();

        assert!(task.await.unwrap_err().is_cancelled());
        assert!(dropped.await.is_err());
    }
}
