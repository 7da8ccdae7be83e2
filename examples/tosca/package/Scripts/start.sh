#!/bin/sh
exec worker
