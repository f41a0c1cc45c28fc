//! The compiled `host.js`, which defines the `host` object of tools.
//!
//! Each call of a tool has its own realm, and `host.js` has to run in all of them. Parsing it was a third of
//! the cost of a realm, so the worker parses it once and keeps the bytecode in memory. Bytecode from any
//! other source is never read: the engine does not validate it.

use std::cell::Cell;
use std::rc::Rc;

use rquickjs::loader::bundle::Bundle;
use rquickjs::loader::{ImportAttributes, Resolver};
use rquickjs::{Context, Ctx, Error, Function, Module, Object, Runtime, WriteOptions};

const SOURCE: &str = include_str!("host.js");

/// The name of the module. Only [`Prelude::function`] can import it.
const NAME: &str = "brief:host";

/// The compiled `host.js` of a runtime.
pub(super) struct Prelude {
    is_wanted: Rc<Cell<bool>>,
}

/// Resolves the only module, while it is needed. The code of tools cannot import any.
struct OnlyPrelude {
    is_wanted: Rc<Cell<bool>>,
}

impl Resolver for OnlyPrelude {
    fn resolve<'js>(
        &mut self,
        _ctx: &Ctx<'js>,
        base: &str,
        name: &str,
        _attributes: Option<ImportAttributes<'js>>,
    ) -> rquickjs::Result<String> {
        if self.is_wanted.get() && name == NAME {
            Ok(NAME.to_owned())
        } else {
            Err(Error::new_resolving(base, name))
        }
    }
}

impl Prelude {
    /// Compiles `host.js` in a realm in which no tool runs.
    pub(super) fn compile(runtime: &Runtime, realm: &Context) -> rquickjs::Result<Prelude> {
        let bytecode = realm.with(|ctx| {
            // Its source places are never shown.
            let options =
                WriteOptions { strip_source: true, strip_debug: true, ..Default::default() };
            Module::declare(ctx, NAME, SOURCE)?.write(options)
        })?;
        // The bytecode lives as long as the process, which has one runtime.
        let bytecode: &'static [u8] = bytecode.leak();
        let modules: &'static [(&str, &[u8])] = vec![(NAME, bytecode)].leak();
        let is_wanted = Rc::new(Cell::new(false));
        runtime.set_loader(OnlyPrelude { is_wanted: Rc::clone(&is_wanted) }, Bundle(modules));
        Ok(Prelude { is_wanted })
    }

    /// Returns the function of `host.js` for this realm.
    pub(super) fn import_function<'js>(&self, ctx: &Ctx<'js>) -> rquickjs::Result<Function<'js>> {
        self.is_wanted.set(true);
        let imported = Module::import(ctx, NAME);
        self.is_wanted.set(false);
        let module: Object<'js> = imported?.finish()?;
        module.get("default")
    }
}
