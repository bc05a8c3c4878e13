/* The JNI side of JniLibrary.java. */
#include <jni.h>

#include "plan_image.h"

JNIEXPORT jint JNICALL Java_dev_gpuwarden_nat_telemetry_JniLibrary_abi(JNIEnv *env, jclass self);
JNIEXPORT jint JNICALL Java_dev_gpuwarden_nat_telemetry_JniLibrary_abi(JNIEnv *env, jclass self)
{
    (void)env;
    (void)self;
    return PLAN_ABI;
}

JNIEXPORT jboolean JNICALL Java_dev_gpuwarden_nat_telemetry_JniLibrary_run(JNIEnv *env, jclass self, jlong image,
                                                                           jlong device, jobject frame);
JNIEXPORT jboolean JNICALL Java_dev_gpuwarden_nat_telemetry_JniLibrary_run(JNIEnv *env, jclass self, jlong image,
                                                                           jlong device, jobject frame)
{
    (void)self;
    char *memory = (*env)->GetDirectBufferAddress(env, frame);
    if (!memory) {
        jclass refusal = (*env)->FindClass(env, "java/lang/IllegalArgumentException");
        if (refusal) { /* else FindClass has thrown */
            (*env)->ThrowNew(env, refusal, "frame: expected a direct buffer, seen one without an address in native memory");
        }
        return JNI_FALSE;
    }
    return (jboolean)plan_run((const int64_t *)image, (void *)device, memory);
}
