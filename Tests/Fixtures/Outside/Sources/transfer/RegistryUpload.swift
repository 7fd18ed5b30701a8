../../ ../../ SwitchboardTests / SwitchboardStreams / Uploads / RegistryUpload.swift
