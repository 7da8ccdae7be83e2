//! Has CaDiCaL linked with the static library of C++, where the compiler brings one: to find and bind the shared one took a fifth
//! of the time of a check, and a program without it runs where no such library is installed.

#[cfg(feature = "cadical")]
use std::{env, fs, path::PathBuf};

#[cfg(not(feature = "cadical"))]
fn main() {}

#[cfg(feature = "cadical")]
fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=CXX");
    println!("cargo::rerun-if-env-changed=CXXSTDLIB");
    if let Some(folder) = library() {
        println!("cargo::rustc-link-search=native={}", folder.display());
    }
}

/// A folder with nothing but that library, for the linker to look into first.
#[cfg(feature = "cadical")]
fn library() -> Option<PathBuf> {
    let is = |key: &str, value: &str| env::var(key).is_ok_and(|is| is == value);
    let here = is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu");
    if !here || env::var_os("CXXSTDLIB").is_some() {
        return None;
    }
    let compiler = cc::Build::new().cpp(true).try_get_compiler().ok()?;
    // CaDiCaL is linked with another library by Clang.
    if compiler.is_like_clang() {
        return None;
    }
    let name = "libstdc++.a";
    let mut ask = compiler.to_command();
    let told = ask.arg(format!("-print-file-name={name}")).output().ok()?;
    let path = PathBuf::from(String::from_utf8(told.stdout).ok()?.trim());
    // What the compiler does not find it prints as it was asked.
    if !path.is_absolute() {
        return None;
    }
    let folder = PathBuf::from(env::var_os("OUT_DIR")?);
    fs::copy(path, folder.join(name)).ok()?;
    Some(folder)
}
