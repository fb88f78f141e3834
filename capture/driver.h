/*
 * driver.h - properties of devices from the CUDA driver. The driver is never loaded here: if it is not loaded and
 * initialised, everything is unknown.
 */
#ifndef TPA_CAPTURE_DRIVER_H
#define TPA_CAPTURE_DRIVER_H

/* Numbers of CUdevice_attribute; older headers lack the last. */
enum driver_attribute {
    DRIVER_CAPABILITY_MAJOR = 75,
    DRIVER_CAPABILITY_MINOR = 76,
    DRIVER_MPS_ENABLED = 133,
};

/* The CUDA version of the driver, 12040 for 12.4; 0 when unknown. */
int driver_version(void);

/* Devices that this process sees; 0 when unknown. */
int driver_device_count(void);

/* ATTRIBUTE of the device NUMBER; -1 when unknown. */
int driver_attribute(int number, enum driver_attribute attribute);

#endif
